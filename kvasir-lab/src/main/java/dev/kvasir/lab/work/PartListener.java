package dev.kvasir.lab.work;

import dev.kvasir.lab.WorkListener;

/** Tells the progress of a part as that of the whole. */
public final class PartListener implements WorkListener {
  private final WorkListener whole;
  private final double before;
  private final double part;
  private final double inAll;

  /**
   * @param before work that was done before the part
   * @param part work of the part
   * @param inAll work of the whole
   */
  public PartListener(WorkListener whole, double before, double part, double inAll) {
    this.whole = whole;
    this.before = before;
    this.part = part;
    this.inAll = inAll;
  }

  @Override
  public void progress(double done, double of) {
    whole.progress(Math.min(inAll, before + part * done / of), inAll);
  }

  @Override
  public void doing(String what) {
    whole.doing(what);
  }

  @Override
  public boolean stopped() {
    return whole.stopped();
  }
}

package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;

/** Reports the progress of a part as progress of the whole. */
public final class PartListener implements ProgressListener {
  private final ProgressListener whole;
  private final double before;
  private final double part;
  private final double total;

  /**
   * @param before work done before the part
   * @param part work of the part
   * @param total work of the whole
   */
  public PartListener(ProgressListener whole, double before, double part, double total) {
    this.whole = whole;
    this.before = before;
    this.part = part;
    this.total = total;
  }

  @Override
  public void progress(double done, double of) {
    whole.progress(Math.min(total, before + part * done / of), total);
  }

  @Override
  public void status(String what) {
    whole.status(what);
  }

  @Override
  public boolean isCancelled() {
    return whole.isCancelled();
  }
}

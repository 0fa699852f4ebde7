package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.ProgressListener;

/** Reports the progress of one of several equal parts to the listener of the whole. */
record PartProgress(ProgressListener whole, int part, int parts) implements ProgressListener {
  @Override
  public void progress(double done, double total) {
    whole.progress(part + (total == 0 ? 0 : done / total), parts);
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

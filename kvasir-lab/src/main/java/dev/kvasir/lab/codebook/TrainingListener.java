package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.Codebook;

/** Follows a training while it runs, called by one thread at a time, though not always the same. */
public interface TrainingListener {
  /**
   * How much of the work is done, in units of about equal time.
   *
   * @param head that was worked on
   * @param error what its codes leave by now, in parts of its vectors without their mean
   */
  void progress(int done, int inAll, TrainedHead head, double error);

  /** A codebook is as good as it will be: the moment to store it. */
  void finished(TrainedHead head, Codebook codebook);

  /** Asked often; true ends the training, and only the heads that were finished remain. */
  default boolean stopped() {
    return false;
  }
}

package dev.kvasir.lab.smooth;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.model.ModelConfig;

/** Counts layers; one in which strengths are tried takes about twice as long as one without. */
final class SearchProgress {
  private final WorkListener listener;
  private final double inAll;
  private double done;

  SearchProgress(ModelConfig config, CalibrationTexts texts, WorkListener listener) {
    this.listener = listener;
    this.inAll = 3.0 * config.layers() * texts.samples().size();
  }

  /** Answers whether to go on. */
  boolean readLayer() {
    return count(1);
  }

  /** Answers whether to go on. */
  boolean triedLayer() {
    return count(2);
  }

  private boolean count(double work) {
    done += work;
    listener.progress(done, inAll);
    return !stopped();
  }

  boolean stopped() {
    return listener.stopped();
  }
}

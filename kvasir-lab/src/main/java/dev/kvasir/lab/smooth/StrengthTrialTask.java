package dev.kvasir.lab.smooth;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;
import java.util.List;

/**
 * Tests all smoothing strengths on one text.
 *
 * @param number number of the text, from 0 on
 * @param absMax largest key magnitudes of all texts
 * @param bits width of the codes by layer
 */
record StrengthTrialTask(
    int number,
    int[] text,
    double positionScale,
    KeyAbsMax absMax,
    List<Integer> bits,
    SmoothingSettings settings)
    implements TracedTask<StrengthErrors> {
  @Override
  public String name() {
    return "trials of factors in sample %d".formatted(number + 1);
  }

  /** Testing strengths about doubles the time of a layer. */
  @Override
  public double cost() {
    return 2.0 * text.length;
  }

  @Override
  public StrengthErrors run(TracedDecoder decoder, ProgressListener listener) {
    StrengthTrials trials = new StrengthTrials(decoder, absMax, bits, settings, listener);
    if (!decoder.forward(text, trials)) {
      throw new WorkCancelledException();
    }
    return trials.sums();
  }
}

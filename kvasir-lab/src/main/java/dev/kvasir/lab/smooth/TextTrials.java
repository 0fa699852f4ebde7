package dev.kvasir.lab.smooth;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedPiece;
import dev.kvasir.lab.work.Stopped;
import java.util.List;

/**
 * Tries factors of all strengths on one text.
 *
 * @param number of the text, from 0 on
 * @param reach of keys in all texts
 * @param bits width of the codes by layer
 */
record TextTrials(
    int number,
    int[] text,
    double positionScale,
    KeyReach reach,
    List<Integer> bits,
    SmoothingSettings settings)
    implements TracedPiece<TrialSums> {
  @Override
  public String name() {
    return "trials of factors in sample %d".formatted(number + 1);
  }

  /** A layer in which strengths are tried takes about twice as long as one without. */
  @Override
  public double work() {
    return 2.0 * text.length;
  }

  @Override
  public TrialSums run(TracedDecoder decoder, WorkListener listener) {
    StrengthTrials trials = new StrengthTrials(decoder, reach, bits, settings, listener);
    if (!decoder.forward(text, trials)) {
      throw new Stopped();
    }
    return trials.sums();
  }
}

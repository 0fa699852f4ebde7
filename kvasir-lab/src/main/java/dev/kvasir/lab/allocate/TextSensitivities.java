package dev.kvasir.lab.allocate;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedPiece;
import dev.kvasir.lab.work.Stopped;
import java.util.OptionalDouble;

/**
 * Measures the sensitivities of one text.
 *
 * @param number of the text, from 0 on
 */
record TextSensitivities(int number, int[] text, SensitivitySettings settings)
    implements TracedPiece<Sensitivities> {
  @Override
  public String name() {
    return "gradients of sample %d".formatted(number + 1);
  }

  @Override
  public double work() {
    return text.length;
  }

  @Override
  public Sensitivities run(TracedDecoder decoder, WorkListener listener) {
    SensitivityTally tally = new SensitivityTally(decoder.config(), settings, listener);
    OptionalDouble loss = decoder.gradients(text, tally);
    return tally.result(loss.orElseThrow(Stopped::new));
  }
}

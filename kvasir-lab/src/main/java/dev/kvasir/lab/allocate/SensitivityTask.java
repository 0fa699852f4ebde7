package dev.kvasir.lab.allocate;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;
import java.util.OptionalDouble;

/**
 * Measures the sensitivities of one text.
 *
 * @param number number of the text, from 0 on
 */
record SensitivityTask(int number, int[] text, SensitivitySettings settings)
    implements TracedTask<Sensitivities> {
  @Override
  public String name() {
    return "gradients of sample %d".formatted(number + 1);
  }

  @Override
  public double cost() {
    return text.length;
  }

  @Override
  public Sensitivities run(TracedDecoder decoder, ProgressListener listener) {
    SensitivityTally tally = new SensitivityTally(decoder.config(), settings, listener);
    OptionalDouble loss = decoder.gradients(text, tally);
    return tally.result(loss.orElseThrow(WorkCancelledException::new));
  }
}

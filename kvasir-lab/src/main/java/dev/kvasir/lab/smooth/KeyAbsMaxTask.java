package dev.kvasir.lab.smooth;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;

/**
 * Finds the reach of keys in one text.
 *
 * @param number of the text, from 0 on
 * @param sinks tokens at the beginning that do not count
 */
record KeyAbsMaxTask(int number, int[] text, double positionScale, int sinks)
    implements TracedTask<KeyAbsMax> {
  @Override
  public String name() {
    return "reach of keys in sample %d".formatted(number + 1);
  }

  @Override
  public double cost() {
    return text.length;
  }

  /**
   * Tokens that are never coded do not count: the first one's keys are often far from all others.
   */
  @Override
  public KeyAbsMax run(TracedDecoder decoder, ProgressListener listener) {
    KeyAbsMax absMax = KeyAbsMax.none(decoder.config());
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            absMax.add(vectors.layer(), vectors.keys(), sinks);
            listener.progress(vectors.layer() + 1, decoder.config().layers());
            return !listener.isCancelled();
          }
        };
    if (!decoder.forward(text, visitor)) {
      throw new WorkCancelledException();
    }
    return absMax;
  }
}

package dev.kvasir.lab.smooth;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;

/**
 * Finds the largest key magnitudes of one text.
 *
 * @param number number of the text, from 0 on
 * @param sinks leading tokens that do not count
 */
record KeyAbsMaxTask(int number, int[] text, double positionScale, int sinks)
    implements TracedTask<KeyAbsMax> {
  @Override
  public String name() {
    return "key magnitudes of sample %d".formatted(number + 1);
  }

  @Override
  public double cost() {
    return text.length;
  }

  /** Skips tokens that are never quantized: keys of the first token are often outliers. */
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

package dev.kvasir.lab.smooth;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedPiece;
import dev.kvasir.lab.work.Stopped;

/**
 * Finds the reach of keys in one text.
 *
 * @param number of the text, from 0 on
 * @param sinks tokens at the beginning that do not count
 */
record TextReach(int number, int[] text, double positionScale, int sinks)
    implements TracedPiece<KeyReach> {
  @Override
  public String name() {
    return "reach of keys in sample %d".formatted(number + 1);
  }

  @Override
  public double work() {
    return text.length;
  }

  /**
   * Tokens that are never coded do not count: the first one's keys are often far from all others.
   */
  @Override
  public KeyReach run(TracedDecoder decoder, WorkListener listener) {
    KeyReach reach = KeyReach.none(decoder.config());
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            reach.add(vectors.layer(), vectors.keys(), sinks);
            listener.progress(vectors.layer() + 1, decoder.config().layers());
            return !listener.stopped();
          }
        };
    if (!decoder.forward(text, visitor)) {
      throw new Stopped();
    }
    return reach;
  }
}

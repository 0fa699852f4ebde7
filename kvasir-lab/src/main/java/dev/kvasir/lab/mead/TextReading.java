package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.LayerAttended;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedPiece;
import dev.kvasir.lab.work.Stopped;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Reads one text, for what its tokens attend with.
 *
 * @param number of the text, from 0 on
 * @param adds whether its tokens count for what is usual
 * @param keeps whether all vectors are wanted
 */
record TextReading(int number, int[] text, boolean adds, boolean keeps)
    implements TracedPiece<ReadText> {
  private static final int NEAR = Page.TOKENS;

  @Override
  public String name() {
    return "text %d".formatted(number + 1);
  }

  @Override
  public double work() {
    return text.length;
  }

  @Override
  public ReadText run(TracedDecoder decoder, WorkListener listener) {
    HeadVectors vectors = new HeadVectors(decoder);
    int layers = decoder.config().layers();
    int[] ids = adds ? counted().distinct().sorted().toArray() : new int[0];
    ReadText read =
        new ReadText(
            ids,
            new float[layers][ids.length * vectors.width()],
            new double[layers][decoder.config().hidden()],
            new float[keeps ? layers : 0][],
            new float[keeps ? layers : 0][]);
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean attended(LayerAttended attended) {
            int layer = attended.layer();
            float[] joined = vectors.joined(attended.vectors().keys(), attended.vectors().values());
            if (adds) {
              add(read, layer, joined, attended.update());
            }
            if (keeps) {
              read.vectors()[layer] = joined;
              read.received()[layer] = attended.received(NEAR);
            }
            listener.progress(layer + 1, layers);
            return !listener.stopped();
          }
        };
    if (!decoder.forward(text, visitor)) {
      throw new Stopped();
    }
    return read;
  }

  private IntStream counted() {
    return Arrays.stream(text).skip(PageRanks.SINKS);
  }

  private void add(ReadText read, int layer, float[] joined, float[] update) {
    float[] sums = read.sums()[layer];
    double[] updates = read.updates()[layer];
    int width = joined.length / text.length;
    for (int token = PageRanks.SINKS; token < text.length; token++) {
      int to = Arrays.binarySearch(read.ids(), text[token]) * width;
      for (int i = 0; i < width; i++) {
        sums[to + i] += joined[token * width + i];
      }
      for (int i = 0; i < updates.length; i++) {
        updates[i] += update[token * updates.length + i];
      }
    }
  }
}

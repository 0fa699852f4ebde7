package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.ActivationPrecision;
import dev.kvasir.lab.gradient.AttentionResult;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Reads one text and returns statistics of its keys and values.
 *
 * @param number number of the text, from 0 on
 * @param contributes whether its tokens contribute to the token statistics
 * @param sumsById whether they are also summed by token id
 * @param retainsVectors whether all vectors are returned
 */
record TextReadingTask(
    int number, int[] text, boolean contributes, boolean sumsById, boolean retainsVectors)
    implements TracedTask<TextStatistics> {
  private static final int ATTENTION_HORIZON = Page.TOKENS;

  @Override
  public String name() {
    return "text %d".formatted(number + 1);
  }

  @Override
  public ActivationPrecision precision() {
    return ActivationPrecision.BYTES;
  }

  @Override
  public double cost() {
    return text.length;
  }

  @Override
  public TextStatistics run(TracedDecoder decoder, ProgressListener listener) {
    TokenKvLayout layout = new TokenKvLayout(decoder);
    int layers = decoder.config().layers();
    int[] ids = contributes && sumsById ? counted().distinct().sorted().toArray() : new int[0];
    TextStatistics read =
        new TextStatistics(
            contributes ? text.length - PageRanks.SINKS : 0,
            ids,
            new float[layers][ids.length * layout.width()],
            new double[layers][layout.width()],
            new double[layers][decoder.config().hidden()],
            new float[retainsVectors ? layers : 0][],
            new float[retainsVectors ? layers : 0][]);
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean afterAttention(AttentionResult result) {
            int layer = result.layer();
            float[] joined =
                layout.joined(layer, result.vectors().keys(), result.vectors().values());
            if (contributes) {
              add(read, layer, joined, result.update());
            }
            if (retainsVectors) {
              read.vectors()[layer] = joined;
              read.attentionMass()[layer] = result.attentionMass(ATTENTION_HORIZON);
            }
            listener.progress(layer + 1, layers);
            return !listener.isCancelled();
          }
        };
    if (!decoder.forward(text, visitor)) {
      throw new WorkCancelledException();
    }
    return read;
  }

  private IntStream counted() {
    return Arrays.stream(text).skip(PageRanks.SINKS);
  }

  private void add(TextStatistics read, int layer, float[] joined, float[] update) {
    double[] totals = read.totals()[layer];
    double[] updates = read.updates()[layer];
    int width = joined.length / text.length;
    for (int token = PageRanks.SINKS; token < text.length; token++) {
      for (int i = 0; i < width; i++) {
        totals[i] += joined[token * width + i];
      }
      if (sumsById) {
        addToId(read, layer, token, joined, width);
      }
      for (int i = 0; i < updates.length; i++) {
        updates[i] += update[token * updates.length + i];
      }
    }
  }

  private void addToId(TextStatistics read, int layer, int token, float[] joined, int width) {
    float[] sums = read.sums()[layer];
    int to = Arrays.binarySearch(read.ids(), text[token]) * width;
    for (int i = 0; i < width; i++) {
      sums[to + i] += joined[token * width + i];
    }
  }
}

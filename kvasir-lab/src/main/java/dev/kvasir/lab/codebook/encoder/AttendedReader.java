package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.MaskedSoftmax;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;

/** Reads the values of a layer with the attention that later queries pay to them. */
public final class AttendedReader {
  private static final int BLOCK = AttendedTokens.BLOCK;

  /** Queries after a block, every fourth, whose outputs count. */
  private static final int QUERIES = 64;

  private static final int QUERY_STRIDE = 4;

  /** Caches keep the first tokens as they are, and their attention would outweigh all others. */
  private static final int SINKS = 16;

  /** Tokens of a block and its queries. */
  private static final int BLOCK_AND_QUERIES = BLOCK + QUERIES * QUERY_STRIDE;

  /** Minimum tokens of a text with one block. */
  public static final int MIN_TOKENS = SINKS + BLOCK_AND_QUERIES;

  private final TracedDecoder decoder;
  private final int layer;
  private final int kvHeads;
  private final int queryHeads;
  private final int dim;
  private final List<float[]> values = new ArrayList<>(); // (BLOCK, width) each
  private final List<float[]> moments = new ArrayList<>(); // (kvHeads, BLOCK, BLOCK) each

  private AttendedReader(LoadedModel model, int layer, WorkerPool workers) {
    model.config().requirePlain("training an encoder"); // it computes attention on its own
    this.decoder = TracedDecoder.of(model, 1, workers);
    this.layer = layer;
    this.kvHeads = model.config().kvHeads();
    this.queryHeads = model.config().queryHeads();
    this.dim = model.config().headDim();
  }

  /** Returns the blocks of all texts, or of some if the listener cancels. */
  public static AttendedTokens read(
      LoadedModel model,
      int layer,
      List<int[]> texts,
      WorkerPool workers,
      ProgressListener listener) {
    AttendedReader reader = new AttendedReader(model, layer, workers);
    for (int i = 0; i < texts.size() && !listener.isCancelled(); i++) {
      reader.read(texts.get(i), listener);
      listener.progress(i + 1, texts.size());
    }
    int width = reader.kvHeads * reader.dim;
    return new AttendedTokens(width, reader.kvHeads, joined(reader.values), joined(reader.moments));
  }

  private static float[] joined(List<float[]> parts) {
    int length = parts.stream().mapToInt(part -> part.length).reduce(0, Math::addExact);
    float[] all = new float[length];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  private void read(int[] text, ProgressListener listener) {
    decoder.forward(
        text,
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            if (vectors.layer() == layer) {
              add(vectors);
            }
            return vectors.layer() < layer && !listener.isCancelled();
          }
        });
  }

  private void add(LayerVectors vectors) {
    int width = kvHeads * dim;
    for (int first = SINKS; first + BLOCK_AND_QUERIES <= vectors.tokens(); first += BLOCK) {
      float[] x = new float[BLOCK * width];
      System.arraycopy(vectors.values(), first * width, x, 0, x.length);
      values.add(x);
      moments.add(moments(vectors, first));
    }
  }

  private float[] moments(LayerVectors vectors, int first) {
    float[] sums = new float[kvHeads * BLOCK * BLOCK];
    for (int query = 0; query < QUERIES; query++) {
      int position = first + BLOCK + query * QUERY_STRIDE;
      for (int head = 0; head < queryHeads; head++) {
        float[] weights = weights(vectors, position, head);
        addMoments(weights, first, sums, head / (queryHeads / kvHeads));
      }
    }
    return sums;
  }

  private static void addMoments(float[] weights, int first, float[] sums, int kvHead) {
    for (int t = 0; t < BLOCK; t++) {
      int row = (kvHead * BLOCK + t) * BLOCK;
      for (int u = 0; u < BLOCK; u++) {
        sums[row + u] += weights[first + t] * weights[first + u];
      }
    }
  }

  /** Returns the attention weights of a query for all tokens up to its own. */
  private float[] weights(LayerVectors vectors, int position, int head) {
    Kernels kernels = decoder.kernels();
    float[] scores = new float[position + 1];
    kernels
        .floats()
        .products(
            RowBlock.of(vectors.queries(), (position * queryHeads + head) * dim, dim, 1, dim),
            RowBlock.of(
                vectors.keys(),
                head / (queryHeads / kvHeads) * dim,
                kvHeads * dim,
                position + 1,
                dim),
            RowBlock.of(scores, 1, position + 1));
    MaskedSoftmax.compute(
        kernels, scores, 0, (float) (1 / Math.sqrt(dim)), 0, 0, position + 1, position + 1);
    return scores;
  }
}

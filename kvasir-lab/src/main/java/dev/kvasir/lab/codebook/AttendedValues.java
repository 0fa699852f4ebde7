package dev.kvasir.lab.codebook;

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
final class AttendedValues {
  /** Tokens of a block. */
  static final int TOKENS = 64;

  /** Queries after a block, every fourth, whose outputs count. */
  private static final int QUERIES = 64;

  private static final int QUERY_STRIDE = 4;
  private static final int SINKS = 16;

  /** Tokens of a block and its queries. */
  private static final int BLOCK_AND_QUERIES = TOKENS + QUERIES * QUERY_STRIDE;

  /** Minimum tokens of a text with one block. */
  static final int MIN_TOKENS = SINKS + BLOCK_AND_QUERIES;

  private final TracedDecoder decoder;
  private final int layer;
  private final int kvHeads;
  private final int queryHeads;
  private final int dim;

  AttendedValues(LoadedModel model, int layer, WorkerPool workers) {
    this.decoder = TracedDecoder.of(model, 1, workers);
    this.layer = layer;
    this.kvHeads = model.config().kvHeads();
    this.queryHeads = model.config().queryHeads();
    this.dim = model.config().headDim();
  }

  /**
   * @param mean (width), subtracted from values
   */
  List<AttendedBlock> read(List<int[]> texts, float[] mean, ProgressListener listener) {
    List<AttendedBlock> blocks = new ArrayList<>();
    for (int i = 0; i < texts.size() && !listener.isCancelled(); i++) {
      int[] text = texts.get(i);
      decoder.forward(
          text,
          new TextVisitor() {
            @Override
            public boolean forward(LayerVectors vectors) {
              if (vectors.layer() == layer) {
                add(vectors, mean, blocks);
              }
              return vectors.layer() < layer && !listener.isCancelled();
            }
          });
      listener.progress(i + 1, texts.size());
    }
    return blocks;
  }

  private void add(LayerVectors vectors, float[] mean, List<AttendedBlock> blocks) {
    for (int first = SINKS; first + BLOCK_AND_QUERIES <= vectors.tokens(); first += TOKENS) {
      blocks.add(block(vectors, mean, first));
    }
  }

  private AttendedBlock block(LayerVectors vectors, float[] mean, int first) {
    int width = kvHeads * dim;
    float[] x = new float[TOKENS * width];
    double[] lengths = new double[TOKENS];
    for (int t = 0; t < TOKENS; t++) {
      double square = 0;
      for (int i = 0; i < width; i++) {
        x[t * width + i] = vectors.values()[(first + t) * width + i] - mean[i];
        square += (double) x[t * width + i] * x[t * width + i];
      }
      lengths[t] = Math.sqrt(square);
      for (int i = 0; i < width && square > 0; i++) {
        x[t * width + i] /= (float) lengths[t];
      }
    }
    double[] moments = new double[kvHeads * TOKENS * TOKENS];
    for (int query = 0; query < QUERIES; query++) {
      int position = first + TOKENS + query * QUERY_STRIDE;
      for (int head = 0; head < queryHeads; head++) {
        float[] weights = weights(vectors, position, head);
        addMoments(weights, first, lengths, moments, head / (queryHeads / kvHeads));
      }
    }
    return new AttendedBlock(TOKENS, width, x, moments);
  }

  private static void addMoments(
      float[] weights, int first, double[] lengths, double[] moments, int kvHead) {
    for (int t = 0; t < TOKENS; t++) {
      double weight = weights[first + t] * lengths[t];
      for (int u = 0; u < TOKENS; u++) {
        moments[(kvHead * TOKENS + t) * TOKENS + u] += weight * weights[first + u] * lengths[u];
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

package dev.kvasir.lab.mead;

import dev.kvasir.kernel.KMeans;
import dev.kvasir.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Cluster centroids of a head's keys, and as many of its values. Distances are weighted by the cost
 * of errors, so that subtracting the nearest centroid leaves the smallest cost.
 */
final class HeadCentroids {
  /** Row indices fit a byte. */
  static final int ROWS = 256;

  /** Maximum number of vectors for clustering: 32 per centroid. */
  private static final int MAX_VECTORS = 32 * ROWS;

  private final int layer;
  private final int head;
  private final TokenKvLayout layout;
  private final Kernels kernels;

  HeadCentroids(int layer, int head, TokenKvLayout layout, Kernels kernels) {
    this.layer = layer;
    this.head = head;
    this.layout = layout;
    this.kernels = kernels;
  }

  /**
   * @param fitted texts to fit the rows to
   * @param all texts to assign to rows
   * @param rows (rows, width of {@link TokenKvLayout}); the columns of this head are set
   */
  RowAssignment fit(
      Metric metric, List<TextActivations> fitted, List<TextActivations> all, float[] rows) {
    int keyDim = metric.keys().length;
    float[] keyScales = new float[keyDim];
    for (int i = 0; i < keyDim; i++) {
      keyScales[i] = (float) Math.sqrt(metric.keys()[i]);
    }
    Map<TextActivations, int[]> ofKeys =
        fit(layout.keyAt(head), new DiagonalWhitening(keyScales), keyDim, fitted, all, rows);
    int valueDim = (int) Math.round(Math.sqrt(metric.values().length));
    Map<TextActivations, int[]> ofValues =
        fit(
            layout.valueAt(head),
            new MatrixWhitening(ValueBasis.root(metric.values(), valueDim)),
            valueDim,
            fitted,
            all,
            rows);
    return new RowAssignment() {
      @Override
      public int ofKey(TextActivations text, int token) {
        return ofKeys.get(text)[token];
      }

      @Override
      public int ofValue(TextActivations text, int token) {
        return ofValues.get(text)[token];
      }
    };
  }

  /** Transforms vectors so that squared distances equal the cost of errors. */
  private sealed interface Whitening {
    /**
     * @param x (dim) from {@code at} on, changed in place
     */
    void apply(float[] x, int at, int dim);
  }

  private record DiagonalWhitening(float[] factors) implements Whitening {
    @Override
    public void apply(float[] x, int at, int dim) {
      for (int i = 0; i < dim; i++) {
        x[at + i] *= factors[i];
      }
    }
  }

  /**
   * @param root (dim, dim), where the metric is {@code root . root^T}
   */
  private record MatrixWhitening(double[] root) implements Whitening {
    @Override
    public void apply(float[] x, int at, int dim) {
      double[] out = new double[dim];
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
          out[j] += root[i * dim + j] * x[at + i];
        }
      }
      for (int j = 0; j < dim; j++) {
        x[at + j] = (float) out[j];
      }
    }
  }

  private Map<TextActivations, int[]> fit(
      int from,
      Whitening whitening,
      int dim,
      List<TextActivations> fitted,
      List<TextActivations> all,
      float[] rows) {
    float[] some = some(fitted, from, dim);
    int count = some.length / dim;
    float[] whitened = whitened(some, whitening, dim);
    int wanted = Math.min(ROWS, count);
    float[] centres = KMeans.centroids(kernels, whitened, count, dim, wanted);
    int[] nearest = KMeans.nearest(kernels, whitened, count, dim, centres);
    writeMeans(some, nearest, dim, from, rows);
    Map<TextActivations, int[]> picks = new HashMap<>();
    for (TextActivations text : all) {
      int tokens = text.tokens().length;
      float[] x = new float[tokens * dim];
      for (int token = 0; token < tokens; token++) {
        text.read(layer, token, from, dim, x, token * dim);
      }
      picks.put(text, KMeans.nearest(kernels, whitened(x, whitening, dim), tokens, dim, centres));
    }
    return picks;
  }

  /** Returns vectors of quantized tokens, evenly spread over texts. */
  private float[] some(List<TextActivations> texts, int from, int dim) {
    List<int[]> places = new ArrayList<>(); // text and token
    for (int text = 0; text < texts.size(); text++) {
      PageRanks ranks = texts.get(text).ranks(layer);
      for (int token = 0; token < texts.get(text).tokens().length; token++) {
        if (ranks.rankOf(head, token) != PageRanks.NONE) {
          places.add(new int[] {text, token});
        }
      }
    }
    int count = Math.min(MAX_VECTORS, places.size());
    float[] some = new float[count * dim];
    for (int i = 0; i < count; i++) {
      int[] place = places.get((int) ((long) i * places.size() / count));
      texts.get(place[0]).read(layer, place[1], from, dim, some, i * dim);
    }
    return some;
  }

  private static float[] whitened(float[] x, Whitening whitening, int dim) {
    float[] whitened = x.clone();
    for (int at = 0; at < x.length; at += dim) {
      whitening.apply(whitened, at, dim);
    }
    return whitened;
  }

  /** Writes the mean of each cluster; an empty cluster gets the mean of all vectors. */
  private void writeMeans(float[] x, int[] nearest, int dim, int from, float[] rows) {
    double[] sums = new double[(ROWS + 1) * dim];
    int[] members = new int[ROWS + 1];
    for (int i = 0; i < nearest.length; i++) {
      for (int row : new int[] {nearest[i], ROWS}) {
        members[row]++;
        for (int d = 0; d < dim; d++) {
          sums[row * dim + d] += x[i * dim + d];
        }
      }
    }
    for (int row = 0; row < ROWS; row++) {
      int of = members[row] > 0 ? row : ROWS;
      for (int d = 0; d < dim; d++) {
        rows[row * layout.width() + from + d] = (float) (sums[of * dim + d] / members[of]);
      }
    }
  }

  /** Returns equal weights for all rows. */
  static double[] weights() {
    double[] weights = new double[ROWS];
    Arrays.fill(weights, 1);
    return weights;
  }
}

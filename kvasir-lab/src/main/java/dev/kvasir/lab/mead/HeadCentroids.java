package dev.kvasir.lab.mead;

import dev.kvasir.kernel.Clusters;
import dev.kvasir.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows that a head's keys lie around, and as many that its values lie around: the centres of
 * clusters by how far an error reaches, so that a vector whose nearest row is known leaves least.
 */
final class HeadCentroids {
  /** A byte tells them apart. */
  static final int ROWS = 256;

  /** Vectors that clusters are made of at the most: 32 for each of them. */
  private static final int MOST_VECTORS = 32 * ROWS;

  private final int layer;
  private final int head;
  private final HeadVectors vectors;
  private final Kernels kernels;

  HeadCentroids(int layer, int head, HeadVectors vectors, Kernels kernels) {
    this.layer = layer;
    this.head = head;
    this.vectors = vectors;
    this.kernels = kernels;
  }

  /**
   * @param fitted what rows are made of
   * @param all what picks are wanted of
   * @param rows (rows, width of {@link HeadVectors}), where those of this head are set
   */
  RowPicks fit(Metric metric, List<KeptText> fitted, List<KeptText> all, float[] rows) {
    int keyDim = metric.keys().length;
    float[] keyScales = new float[keyDim];
    for (int i = 0; i < keyDim; i++) {
      keyScales[i] = (float) Math.sqrt(metric.keys()[i]);
    }
    Map<KeptText, int[]> ofKeys =
        fit(vectors.keyAt(head), new Scaled(keyScales), keyDim, fitted, all, rows);
    int valueDim = (int) Math.round(Math.sqrt(metric.values().length));
    Map<KeptText, int[]> ofValues =
        fit(
            vectors.valueAt(head),
            new Rooted(ValueBasis.root(metric.values(), valueDim)),
            valueDim,
            fitted,
            all,
            rows);
    return new RowPicks() {
      @Override
      public int ofKey(KeptText text, int token) {
        return ofKeys.get(text)[token];
      }

      @Override
      public int ofValue(KeptText text, int token) {
        return ofValues.get(text)[token];
      }
    };
  }

  /** Makes squared distances what errors cost. */
  private sealed interface Measure {
    /**
     * @param x (dim) from {@code at} on, changed in place
     */
    void apply(float[] x, int at, int dim);
  }

  private record Scaled(float[] factors) implements Measure {
    @Override
    public void apply(float[] x, int at, int dim) {
      for (int i = 0; i < dim; i++) {
        x[at + i] *= factors[i];
      }
    }
  }

  /**
   * @param root (dim, dim), of which the metric is {@code root . root^T}
   */
  private record Rooted(double[] root) implements Measure {
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

  private Map<KeptText, int[]> fit(
      int from, Measure measure, int dim, List<KeptText> fitted, List<KeptText> all, float[] rows) {
    float[] some = some(fitted, from, dim);
    int count = some.length / dim;
    float[] measured = measured(some, measure, dim);
    int wanted = Math.min(ROWS, count);
    float[] centres = Clusters.centres(kernels, measured, count, dim, wanted);
    int[] nearest = Clusters.nearest(kernels, measured, count, dim, centres);
    writeMeans(some, nearest, dim, from, rows);
    Map<KeptText, int[]> picks = new HashMap<>();
    for (KeptText text : all) {
      int tokens = text.tokens().length;
      float[] x = new float[tokens * dim];
      for (int token = 0; token < tokens; token++) {
        text.read(layer, token, from, dim, x, token * dim);
      }
      picks.put(text, Clusters.nearest(kernels, measured(x, measure, dim), tokens, dim, centres));
    }
    return picks;
  }

  /** Vectors that are coded, evenly spread over texts. */
  private float[] some(List<KeptText> texts, int from, int dim) {
    List<int[]> places = new ArrayList<>(); // text and token
    for (int text = 0; text < texts.size(); text++) {
      PageRanks ranks = texts.get(text).ranks(layer);
      for (int token = 0; token < texts.get(text).tokens().length; token++) {
        if (ranks.part(head, token) != PageRanks.NONE) {
          places.add(new int[] {text, token});
        }
      }
    }
    int count = Math.min(MOST_VECTORS, places.size());
    float[] some = new float[count * dim];
    for (int i = 0; i < count; i++) {
      int[] place = places.get((int) ((long) i * places.size() / count));
      texts.get(place[0]).read(layer, place[1], from, dim, some, i * dim);
    }
    return some;
  }

  private static float[] measured(float[] x, Measure measure, int dim) {
    float[] measured = x.clone();
    for (int at = 0; at < x.length; at += dim) {
      measure.apply(measured, at, dim);
    }
    return measured;
  }

  /** The mean of a cluster's vectors is its centre; one without any gets the mean of all. */
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
        rows[row * vectors.width() + from + d] = (float) (sums[of * dim + d] / members[of]);
      }
    }
  }

  /** All rows count alike. */
  static double[] weights() {
    double[] weights = new double[ROWS];
    Arrays.fill(weights, 1);
    return weights;
  }
}

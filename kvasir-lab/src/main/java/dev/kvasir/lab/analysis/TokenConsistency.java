package dev.kvasir.lab.analysis;

import dev.kvasir.kernel.KMeans;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import java.util.HashMap;
import java.util.Map;

/**
 * How far values follow their tokens (PatternKV, Eq. 3): values of a head are clustered, and a
 * token's consistency is the largest share of its occurrences in one cluster.
 */
public final class TokenConsistency {
  private static final int CLUSTERS = 32;

  private TokenConsistency() {}

  /** Returns the mean over the heads of a layer and all tokens that occur at least twice. */
  public static double ofLayer(KeysAndValues text, int layer) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    int depth = text.shape().valueDim();
    int clusters = Math.min(CLUSTERS, text.tokens());
    double sum = 0;
    for (int head = 0; head < text.shape().kvHeads(); head++) {
      float[] values = text.values()[layer][head];
      float[] centroids = KMeans.centroids(kernels, values, text.tokens(), depth, clusters);
      int[] nearest = KMeans.nearest(kernels, values, text.tokens(), depth, centroids);
      sum += of(text.ids(), nearest);
    }
    return sum / text.shape().kvHeads();
  }

  /**
   * Returns the mean consistency of tokens that occur at least twice, {@code NaN} without one.
   *
   * @param clusters cluster of each occurrence
   */
  static double of(int[] ids, int[] clusters) {
    Map<Integer, Map<Integer, Integer>> counts = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      counts.computeIfAbsent(ids[i], id -> new HashMap<>()).merge(clusters[i], 1, Integer::sum);
    }
    return counts.values().stream()
        .filter(byCluster -> total(byCluster) > 1)
        .mapToDouble(byCluster -> (double) most(byCluster) / total(byCluster))
        .average()
        .orElse(Double.NaN);
  }

  private static int total(Map<Integer, Integer> counts) {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }

  private static int most(Map<Integer, Integer> counts) {
    return counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}

package dev.kvasir.model;

/** Multiplies keys and divides queries by the factors of {@link KeyOutliers}. */
final class OutlierScaling {
  private final KeyOutliers outliers;
  private final int queryHeads;
  private final int headsPerKey;
  private final int keyDim;
  private final float[][] factors; // by layer: (kvHeads, keyDim)

  OutlierScaling(KeyOutliers outliers, ModelConfig config) {
    this.outliers = outliers;
    this.queryHeads = config.queryHeads();
    this.headsPerKey = config.queryHeads() / config.kvHeads();
    this.keyDim = config.keyDim();
    this.factors = new float[config.layers()][];
    for (int layer = 0; layer < factors.length; layer++) {
      factors[layer] = outliers.keyFactors(config, layer);
    }
  }

  KeyOutliers outliers() {
    return outliers;
  }

  /**
   * Scales one row before RoPE.
   *
   * @param queries (queryHeads, keyDim) from {@code q} on
   * @param keys (kvHeads, keyDim) from {@code k} on
   */
  void apply(int layer, float[] queries, int q, float[] keys, int k) {
    float[] ofLayer = factors[layer];
    for (int i = 0; i < ofLayer.length; i++) {
      keys[k + i] *= ofLayer[i];
    }
    for (int head = 0; head < queryHeads; head++) {
      int from = head / headsPerKey * keyDim;
      for (int i = 0; i < keyDim; i++) {
        queries[q + head * keyDim + i] /= ofLayer[from + i];
      }
    }
  }
}

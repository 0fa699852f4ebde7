package dev.kvasir.codec.mead;

import java.util.List;

/**
 * A bit allocation over all channels of a model.
 *
 * @param level index among the cache's rates; 0 is the highest rate
 * @param bits nominal bits, as the spec counts them
 * @param saliency metric of the tiers that the bits are for
 * @param layers code layouts of all layers, including token-determined ones
 */
record MeadRate(int level, double bits, SaliencyMetric saliency, List<LayerCodeLayout> layers) {
  /**
   * Target of a rate.
   *
   * @param nominal bits as the spec counts them
   * @param quantized average bits per value of a quantized token, including all overhead
   */
  record RateTarget(double nominal, double quantized) {}

  long bytes() {
    return layers.stream()
        .flatMap(layer -> layer.heads().stream())
        .mapToLong(HeadCodeLayout::bytes)
        .sum();
  }
}

package dev.kvasir.codec.mead;

import java.util.List;

/**
 * Bits shared out among all channels of a model.
 *
 * @param level of its pages, where a cache has several rates: 0 is the highest
 * @param bits as the spec counts them
 * @param layers of codes, those included that need none
 */
record MeadRate(int level, double bits, List<LayerCodeLayout> layers) {
  /**
   * What a rate is made of.
   *
   * @param named bits as the spec counts them
   * @param packed bits that a number of a packed token takes on the average, with all that belongs
   *     to it
   */
  record RateTarget(double nominal, double quantized) {}

  long bytes() {
    return layers.stream()
        .flatMap(layer -> layer.heads().stream())
        .mapToLong(HeadCodeLayout::bytes)
        .sum();
  }
}

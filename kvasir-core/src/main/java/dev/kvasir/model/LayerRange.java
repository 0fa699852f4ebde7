package dev.kvasir.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Consecutive layers of a model, which a device holds.
 *
 * @param all layers of the model
 */
public record LayerRange(int first, int count, int all) {
  public LayerRange {
    if (first < 0 || count < 1 || first > all - count) {
      throw new IllegalArgumentException(
          "%d layers from %d on; expected some of %d".formatted(count, first, all));
    }
  }

  /** Returns the range of all layers. */
  public static LayerRange whole(int layers) {
    return new LayerRange(0, layers, layers);
  }

  /**
   * Divides layers into ranges in proportion to weights, as nearly as whole layers allow. Each
   * range has at least one layer.
   *
   * @param weights positive numbers, such as free bytes; at most as many as layers
   */
  public static List<LayerRange> divide(int layers, long... weights) {
    if (weights.length < 1 || weights.length > layers) {
      throw new IllegalArgumentException(
          "%d ranges; expected 1 to %d".formatted(weights.length, layers));
    }
    double all = Arrays.stream(weights).asDoubleStream().sum();
    List<LayerRange> ranges = new ArrayList<>();
    double before = 0;
    int first = 0;
    for (int i = 0; i < weights.length; i++) {
      before += weights[i];
      int left = weights.length - 1 - i;
      int end = Math.clamp(Math.round(layers * (before / all)), first + 1, layers - left);
      ranges.add(new LayerRange(first, end - first, layers));
      first = end;
    }
    return ranges;
  }

  public boolean isFirst() {
    return first == 0;
  }

  public boolean isLast() {
    return end() == all;
  }

  public boolean isWhole() {
    return count == all;
  }

  /** Returns the layer after the last one. */
  public int end() {
    return first + count;
  }

  /** Returns the share of a number that all layers have together, rounded up. */
  public long share(long ofAll) {
    return Math.ceilDiv(Math.multiplyExact(ofAll, count), all);
  }
}

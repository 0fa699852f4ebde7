package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.WindowPattern;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What limits the attention of a model's layers: sliding windows and a soft cap of scores. Layers
 * with limits have kernels of their own, so that the others compute no bounds.
 *
 * @param windows positions that a query attends to, its own included, by layer; empty if no layer
 *     has a window
 * @param cap soft cap of scores; 0 for none
 * @param sinks first tokens of a sequence, which stay in pages of their own
 */
public record AttentionLimits(List<Integer> windows, float cap, int sinks) {
  public static final AttentionLimits NONE = new AttentionLimits(List.of(), 0, 0);

  /** A window that contains every context, and to which kernels add positions in 32 bits. */
  static final int ALL_POSITIONS = 1 << 28;

  /** Returns the limits of a model, without sinks. A window of the whole context is none. */
  public static AttentionLimits of(ModelConfig config) {
    List<Integer> windows =
        IntStream.range(0, config.layers())
            .map(config.windows()::of)
            .map(window -> window >= config.contextLength() ? WindowPattern.UNBOUNDED : window)
            .boxed()
            .toList();
    boolean slides = windows.stream().anyMatch(window -> window != WindowPattern.UNBOUNDED);
    return new AttentionLimits(slides ? windows : List.of(), config.scales().scoreCap(), 0);
  }

  AttentionLimits withSinks(int count) {
    return new AttentionLimits(windows, cap, count);
  }

  /** Returns whether any layer has limits. */
  public boolean any() {
    return !windows.isEmpty() || cap > 0;
  }

  /** Returns whether a layer has limits. */
  boolean bound(int layer) {
    return cap > 0 || window(layer) != ALL_POSITIONS;
  }

  /** Returns the window of a layer, as its kernel takes it. */
  int window(int layer) {
    int window = windows.isEmpty() ? WindowPattern.UNBOUNDED : windows.get(layer);
    return Math.min(window, ALL_POSITIONS);
  }

  /**
   * Checks that a format has kernels for these limits.
   *
   * @throws DeviceException with one sentence if it has none
   */
  public void check(PageFormat format) {
    if (any() && !format.attendsWithLimits()) {
      throw new DeviceException(
          "attention on a device has no kernel of %s for layers with %s; expected fp16, kivi or"
                  .formatted(format, windows.isEmpty() ? "a soft cap" : "a sliding window")
              + " kvtuner");
    }
  }
}

package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The attention window of each layer.
 *
 * @param windows for each layer, the positions that a query attends to, including its own; empty if
 *     all layers have full attention
 */
public record LayerWindows(List<Integer> windows) {
  /** The window of a layer with full attention. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /** Full attention in every layer. */
  public static final LayerWindows NONE = new LayerWindows(List.of());

  public LayerWindows {
    windows = List.copyOf(windows);
    for (int window : windows) {
      if (window < 1) {
        throw new InvalidInputException(
            "a layer sees %d positions; expected at least 1".formatted(window));
      }
    }
  }

  /**
   * Returns the windows of all layers of a model.
   *
   * @param longest maximum tokens of a sequence; a window of this size or more counts as full
   *     attention
   */
  public static LayerWindows of(int layers, IntUnaryOperator window, int longest) {
    List<Integer> windows =
        IntStream.range(0, layers)
            .map(layer -> window.applyAsInt(layer) < longest ? window.applyAsInt(layer) : UNBOUNDED)
            .boxed()
            .toList();
    return windows.stream().allMatch(found -> found == UNBOUNDED)
        ? NONE
        : new LayerWindows(windows);
  }

  /** Returns the positions that a query of a layer attends to, including its own. */
  public int of(int layer) {
    return windows.isEmpty() ? UNBOUNDED : windows.get(layer);
  }
}

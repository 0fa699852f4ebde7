package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * How far back each layer is read.
 *
 * @param windows by layer, positions that a query sees, itself included; none where every layer
 *     sees everything before it
 */
public record LayerWindows(List<Integer> windows) {
  /** A window that everything lies in. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /** Every layer sees everything before it. */
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
   * The windows of all layers of a model.
   *
   * @param longest tokens of a sequence at the most: a window of as many is none
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

  /** Positions that a query of a layer sees, itself included. */
  public int of(int layer) {
    return windows.isEmpty() ? UNBOUNDED : windows.get(layer);
  }
}

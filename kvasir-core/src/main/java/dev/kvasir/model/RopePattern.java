package dev.kvasir.model;

import dev.kvasir.model.ModelConfig.RopeSettings;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/**
 * The RoPE settings of each layer.
 *
 * @param kinds distinct settings, at least one
 * @param ofLayer index of a layer's kind, or {@link #NONE}
 */
public record RopePattern(List<RopeSettings> kinds, IntUnaryOperator ofLayer) {
  /** Kind of a layer without RoPE. */
  public static final int NONE = -1;

  public RopePattern {
    kinds = List.copyOf(kinds);
  }

  /** Returns a pattern with the same settings in all layers. */
  public static RopePattern uniform(RopeSettings settings) {
    return new RopePattern(List.of(settings), layer -> 0);
  }

  /** Returns the same settings in all layers but some without RoPE. */
  static RopePattern withoutRope(RopeSettings settings, IntPredicate none) {
    return new RopePattern(List.of(settings), layer -> none.test(layer) ? NONE : 0);
  }

  /** Returns one kind for layers that see everything and another for those with a window. */
  static RopePattern of(RopeSettings global, RopeSettings local, WindowPattern windows) {
    return windows == WindowPattern.FULL || global.equals(local)
        ? uniform(global)
        : new RopePattern(List.of(global, local), layer -> windows.isLocal(layer) ? 1 : 0);
  }

  /** Returns the index of a layer's kind, or {@link #NONE}. */
  public int of(int layer) {
    return ofLayer.applyAsInt(layer);
  }

  /** Returns the pattern of the layers from one on. */
  RopePattern from(int first) {
    return new RopePattern(kinds, layer -> of(first + layer));
  }

  boolean isUniform(int layers) {
    for (int layer = 0; layer < layers; layer++) {
      if (of(layer) != 0) {
        return false;
      }
    }
    return true;
  }
}

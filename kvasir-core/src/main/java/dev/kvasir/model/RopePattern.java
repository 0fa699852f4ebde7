package dev.kvasir.model;

import dev.kvasir.model.ModelConfig.RopeSettings;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/**
 * How far each layer turns its keys and queries.
 *
 * @param kinds the rotations that layers choose from, at least one
 * @param ofLayer the index of a layer's kind, or {@link #NO_ROW}
 */
public record RopePattern(List<RopeSettings> kinds, IntUnaryOperator ofLayer) {
  /** The kind of a layer that does not know positions. */
  public static final int NONE = -1;

  public RopePattern {
    kinds = List.copyOf(kinds);
  }

  /** All layers alike. */
  public static RopePattern uniform(RopeSettings settings) {
    return new RopePattern(List.of(settings), layer -> 0);
  }

  /** All layers alike but for some that do not know positions. */
  static RopePattern withoutRope(RopeSettings settings, IntPredicate none) {
    return new RopePattern(List.of(settings), layer -> none.test(layer) ? NONE : 0);
  }

  /** Layers that see everything turn in one way, those with a window in another. */
  static RopePattern of(RopeSettings global, RopeSettings local, WindowPattern windows) {
    return windows == WindowPattern.FULL || global.equals(local)
        ? uniform(global)
        : new RopePattern(List.of(global, local), layer -> windows.isLocal(layer) ? 1 : 0);
  }

  /** The index of that layer's kind, or {@link #NO_ROW}. */
  public int of(int layer) {
    return ofLayer.applyAsInt(layer);
  }

  /** Whether all of so many layers turn alike. */
  boolean isUniform(int layers) {
    for (int layer = 0; layer < layers; layer++) {
      if (of(layer) != 0) {
        return false;
      }
    }
    return true;
  }
}

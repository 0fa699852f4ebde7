package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopePattern;
import java.util.List;

/** The RoPE of each layer, for positions that may be scaled. */
final class TracedRopes {
  private final RopePattern pattern;
  private final List<Rope> ropes; // by kind

  /**
   * @param positionScale factor of positions
   */
  TracedRopes(RopePattern pattern, double positionScale) {
    this.pattern = pattern;
    this.ropes = pattern.kinds().stream().map(kind -> scaled(kind, positionScale)).toList();
  }

  /** Scales frequencies instead of positions, which has the same effect on the angles. */
  private static Rope scaled(RopeSettings settings, double positionScale) {
    float[] frequencies = settings.frequencies().of(settings.base(), settings.dimensions());
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] *= (float) positionScale;
    }
    return new Rope(settings.layout(), frequencies);
  }

  /** Rotates the heads of a token; does nothing in layers without RoPE. */
  void rotate(int layer, float[] x, int at, int headDim, int heads, int position) {
    int kind = pattern.of(layer);
    if (kind != RopePattern.NONE) {
      ropes.get(kind).rotate(x, at, headDim, heads, position);
    }
  }

  /**
   * Scales the rotary channels of queries by the squared magnitude, for themselves and for the
   * keys, and all of their channels by the temperature of their position. The gradients of the
   * scaled queries are scaled in the same way.
   *
   * @param x (tokens, queryHeads, headDim)
   */
  void scaleQueries(
      Kernels kernels, WorkerPool workers, int layer, float[] x, int tokens, int headDim) {
    int kind = pattern.of(layer);
    if (kind == RopePattern.NONE) {
      return;
    }
    RopeSettings settings = pattern.kinds().get(kind);
    int rotary = 2 * ropes.get(kind).pairs();
    float squared = (float) (settings.magnitude() * settings.magnitude());
    int heads = x.length / (tokens * headDim);
    workers.run(
        (head, worker) -> {
          float temperature = settings.temperature().at(head / heads);
          int at = head * headDim;
          kernels.rows().scale(x, at, rotary, squared * temperature);
          kernels.rows().scale(x, at + rotary, headDim - rotary, temperature);
        },
        tokens * heads);
  }
}

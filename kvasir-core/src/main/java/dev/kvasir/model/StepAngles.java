package dev.kvasir.model;

import dev.kvasir.kernel.RowKernels;
import java.util.Arrays;
import java.util.List;

/** Cosines and sines of a step's positions, computed once for all heads and layers. */
final class StepAngles {
  private final List<Rope> ropes;
  private final float[] queryScales; // by kind: factor of the rotary channels of queries
  private final QueryTemperature[] temperatures; // by kind
  private final float[][] queryFactors; // by kind: (rows)
  private final float[][] cosines; // by kind: (rows, pairs)
  private final float[][] sines;

  /**
   * @param ropes one for each kind of the pattern
   */
  StepAngles(RopePattern pattern, List<Rope> ropes) {
    this.ropes = ropes;
    this.queryScales = new float[ropes.size()];
    for (int kind = 0; kind < queryScales.length; kind++) {
      double magnitude = pattern.kinds().get(kind).magnitude();
      queryScales[kind] = (float) (magnitude * magnitude);
    }
    this.temperatures = new QueryTemperature[ropes.size()];
    Arrays.setAll(temperatures, kind -> pattern.kinds().get(kind).temperature());
    this.queryFactors = new float[ropes.size()][];
    this.cosines = new float[ropes.size()][];
    this.sines = new float[ropes.size()][];
  }

  void ensureCapacity(int rows) {
    Arrays.setAll(queryFactors, kind -> new float[rows]);
    Arrays.setAll(cosines, kind -> new float[rows * ropes.get(kind).pairs()]);
    Arrays.setAll(sines, kind -> new float[rows * ropes.get(kind).pairs()]);
  }

  void set(int row, int position) {
    for (int kind = 0; kind < cosines.length; kind++) {
      Rope rope = ropes.get(kind);
      rope.angles(position, cosines[kind], sines[kind], row * rope.pairs());
      queryFactors[kind][row] = temperatures[kind].at(position);
    }
  }

  /** Rotates {@code heads} consecutive heads of a row by one of the kinds, or not at all. */
  void rotate(int kind, int row, float[] x, int at, int heads, int headDim) {
    if (kind != RopePattern.NONE) {
      Rope rope = ropes.get(kind);
      rope.rotate(x, at, heads, headDim, cosines[kind], sines[kind], row * rope.pairs());
    }
  }

  /**
   * Rotates queries and scales them for themselves and for the keys. Rotary channels are the first
   * of each head, in either layout.
   */
  void rotateQueries(RowKernels rows, int kind, int row, float[] x, int at, int heads, int width) {
    rotate(kind, row, x, at, heads, width);
    if (kind != RopePattern.NONE && queryScales[kind] != 1) {
      int rotary = 2 * ropes.get(kind).pairs();
      for (int head = 0; head < heads; head++) {
        rows.scale(x, at + head * width, rotary, queryScales[kind]);
      }
    }
    if (kind != RopePattern.NONE && queryFactors[kind][row] != 1) {
      rows.scale(x, at, heads * width, queryFactors[kind][row]);
    }
  }
}

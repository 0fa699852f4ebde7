package dev.kvasir.model;

import java.util.Arrays;
import java.util.List;

/** Cosines and sines of a step's positions, worked out once for all heads and layers. */
final class StepAngles {
  private final List<Rope> ropes;
  private final float[][] cosines; // by kind: (rows, pairs)
  private final float[][] sines;

  StepAngles(List<Rope> ropes) {
    this.ropes = ropes;
    this.cosines = new float[ropes.size()][];
    this.sines = new float[ropes.size()][];
  }

  void makeRoom(int rows) {
    Arrays.setAll(cosines, kind -> new float[rows * ropes.get(kind).pairs()]);
    Arrays.setAll(sines, kind -> new float[rows * ropes.get(kind).pairs()]);
  }

  void set(int row, int position) {
    for (int kind = 0; kind < cosines.length; kind++) {
      Rope rope = ropes.get(kind);
      rope.angles(position, cosines[kind], sines[kind], row * rope.pairs());
    }
  }

  /** Turns {@code heads} consecutive heads of a row by one of the kinds, or by none. */
  void rotate(int kind, int row, float[] x, int at, int heads, int headDim) {
    if (kind != RopePattern.NONE) {
      Rope rope = ropes.get(kind);
      rope.rotate(x, at, heads, headDim, cosines[kind], sines[kind], row * rope.pairs());
    }
  }
}

package dev.kvasir.kernel;

/** Thread-local scratch memory for a few rows of floats. */
final class RowScratch {
  private static final ThreadLocal<float[]> ROW = ThreadLocal.withInitial(() -> new float[0]);

  private RowScratch() {}

  static float[] of(int columns) {
    float[] row = ROW.get();
    if (row.length < columns) {
      row = new float[columns];
      ROW.set(row);
    }
    return row;
  }

  /** Adds a row of sums to an output. */
  static void add(float[] from, int at, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] += from[at + i];
    }
  }
}

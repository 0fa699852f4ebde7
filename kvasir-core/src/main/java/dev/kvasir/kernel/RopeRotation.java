package dev.kvasir.kernel;

import java.util.Arrays;

/** A worker's room to turn rows of a table to the position of a page. */
public final class RopeRotation {
  private final RopeTable table;
  private final float[] unit; // (width): turned, it is the cosines and then the sines
  private final float[] inModel; // (headDim), the same in the model's order
  private final float[] sines; // (pairs)

  public RopeRotation(RopeTable table) {
    this.table = table;
    this.unit = new float[table.width()];
    this.inModel = new float[table.headDim()];
    this.sines = new float[table.pairs()];
  }

  public RopeTable table() {
    return table;
  }

  /**
   * Turns rows to a position, in place.
   *
   * @param rows (count, width)
   * @param rotation whose table this is for
   */
  public void rotate(Kernels kernels, float[] rows, int count, Rotation rotation, int position) {
    rotateUnit(rotation, position);
    System.arraycopy(unit, table.pairs(), sines, 0, table.pairs());
    kernels.patterns().rotate(rows, 0, count, table.pairs(), unit, sines, 0);
  }

  private void rotateUnit(Rotation rotation, int position) {
    int pairs = table.pairs();
    Arrays.fill(unit, 0, pairs, 1);
    Arrays.fill(unit, pairs, 2 * pairs, 0);
    table.toModelOrder(unit, 1, inModel);
    rotation.rotate(inModel, 0, inModel.length, 1, position);
    table.toPairOrder(inModel, 0, 1, unit, 0);
  }

  /** The angles that {@link #turn} turns rows by. */
  RopeAngles angles(Rotation rotation, int position) {
    rotateUnit(rotation, position);
    int pairs = table.pairs();
    return new RopeAngles(Arrays.copyOf(unit, pairs), Arrays.copyOfRange(unit, pairs, 2 * pairs));
  }
}

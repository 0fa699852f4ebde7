package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * Rotates rows in the order of a table to the position of a page, with scratch memory for one
 * worker.
 */
public final class RopeRotation {
  private final RopeTable table;
  private final float[] unit; // (width): once rotated, the cosines and then the sines
  private final float[] inModel; // (headDim), the same in model order
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
   * Rotates rows to a position, in place.
   *
   * @param rows (count, width)
   * @param rotation the rotation of the table
   */
  public void rotate(Kernels kernels, float[] rows, int count, Rotation rotation, int position) {
    rotateUnit(rotation, position);
    System.arraycopy(unit, table.pairs(), sines, 0, table.pairs());
    kernels.patterns().rotate(rows, 0, count, table.pairs(), unit, sines, 0);
  }

  /** Sets the angles by which {@link #rotate} rotates rows, from an index on. */
  void angles(Rotation rotation, int position, float[] cosines, float[] sines, int at) {
    rotateUnit(rotation, position);
    System.arraycopy(unit, 0, cosines, at, table.pairs());
    System.arraycopy(unit, table.pairs(), sines, at, table.pairs());
  }

  private void rotateUnit(Rotation rotation, int position) {
    int pairs = table.pairs();
    Arrays.fill(unit, 0, pairs, 1);
    Arrays.fill(unit, pairs, 2 * pairs, 0);
    table.toModelOrder(unit, 1, inModel);
    rotation.rotate(inModel, 0, inModel.length, 1, position);
    table.toPairOrder(inModel, 0, 1, unit, 0);
  }

  /** Returns the angles by which {@link #rotate} rotates rows. */
  RopeAngles angles(Rotation rotation, int position) {
    rotateUnit(rotation, position);
    int pairs = table.pairs();
    return new RopeAngles(Arrays.copyOf(unit, pairs), Arrays.copyOfRange(unit, pairs, 2 * pairs));
  }
}

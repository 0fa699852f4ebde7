package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * Rotates rows in the order of a table to the position of a page, with scratch memory for one
 * worker.
 */
public final class RopeRotation {
  /** Slots of cached angles: the pages of 32,768 tokens, if no two share one. */
  private static final int SLOTS = 256;

  private static final int SPREAD = 0x9E3779B9; // since positions of pages are 128 apart

  private final RopeTable table;
  private final RopeAngles[] cached = new RopeAngles[SLOTS]; // null until first used
  private final int[] cachedPositions = new int[SLOTS];
  private final float[] unit; // (width): once rotated, the cosines and then the sines
  private final float[] inModel; // (headDim), the same in model order

  public RopeRotation(RopeTable table) {
    this.table = table;
    this.unit = new float[table.width()];
    this.inModel = new float[table.headDim()];
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
    RopeAngles angles = cachedAngles(rotation, position);
    kernels.patterns().rotate(rows, 0, count, table.pairs(), angles.cosines(), angles.sines(), 0);
  }

  private RopeAngles cachedAngles(Rotation rotation, int position) {
    int slot = position * SPREAD >>> Integer.SIZE - Integer.numberOfTrailingZeros(SLOTS);
    if (cached[slot] == null || cachedPositions[slot] != position) {
      cached[slot] = angles(rotation, position);
      cachedPositions[slot] = position;
    }
    return cached[slot];
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

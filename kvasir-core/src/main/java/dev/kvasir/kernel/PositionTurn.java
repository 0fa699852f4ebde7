package dev.kvasir.kernel;

import java.util.Arrays;

/** A worker's room to turn rows of a table to the position of a page. */
public final class PositionTurn {
  private final TurnTable table;
  private final float[] one; // (width): turned, it is the cosines and then the sines
  private final float[] inModel; // (headDim), the same in the model's order
  private final float[] sines; // (pairs)

  public PositionTurn(TurnTable table) {
    this.table = table;
    this.one = new float[table.width()];
    this.inModel = new float[table.headDim()];
    this.sines = new float[table.pairs()];
  }

  public TurnTable table() {
    return table;
  }

  /**
   * Turns rows to a position, in place.
   *
   * @param rows (count, width)
   * @param rotation whose table this is for
   */
  public void turn(Kernels kernels, float[] rows, int count, Rotation rotation, int position) {
    turnOne(rotation, position);
    System.arraycopy(one, table.pairs(), sines, 0, table.pairs());
    kernels.patterns().turn(rows, 0, count, table.pairs(), one, sines, 0);
  }

  private void turnOne(Rotation rotation, int position) {
    int pairs = table.pairs();
    Arrays.fill(one, 0, pairs, 1);
    Arrays.fill(one, pairs, 2 * pairs, 0);
    table.restore(one, 1, inModel);
    rotation.turn(inModel, 0, inModel.length, 1, position);
    table.arrange(inModel, 0, 1, one, 0);
  }

  /** The angles that {@link #turn} turns rows by. */
  Angles angles(Rotation rotation, int position) {
    turnOne(rotation, position);
    int pairs = table.pairs();
    return new Angles(Arrays.copyOf(one, pairs), Arrays.copyOfRange(one, pairs, 2 * pairs));
  }
}

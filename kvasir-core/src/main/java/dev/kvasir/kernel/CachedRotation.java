package dev.kvasir.kernel;

/** A {@link RopeRotation} that remembers the angles of positions. It allocates nothing later on. */
public final class CachedRotation {
  /** The pages of 32,768 tokens, if no two share a slot. */
  private static final int SLOTS = 256;

  private static final int SPREAD = 0x9E3779B9; // since positions of pages are 128 apart

  private final RopeRotation rotation;
  private final boolean[] used = new boolean[SLOTS];
  private final int[] positions = new int[SLOTS];
  private final float[] cosines; // (SLOTS, pairs)
  private final float[] sines; // (SLOTS, pairs)

  public CachedRotation(RopeTable table) {
    this.rotation = new RopeRotation(table);
    this.cosines = new float[SLOTS * table.pairs()];
    this.sines = new float[SLOTS * table.pairs()];
  }

  public RopeTable table() {
    return rotation.table();
  }

  /**
   * Rotates rows to a position, in place.
   *
   * @param rows (count, width)
   * @param of the rotation of the table
   */
  public void rotate(Kernels kernels, float[] rows, int count, Rotation of, int position) {
    int pairs = table().pairs();
    int slot = position * SPREAD >>> Integer.SIZE - Integer.numberOfTrailingZeros(SLOTS);
    int at = slot * pairs;
    if (!used[slot] || positions[slot] != position) {
      rotation.angles(of, position, cosines, sines, at);
      used[slot] = true;
      positions[slot] = position;
    }
    kernels.patterns().rotate(rows, 0, count, pairs, cosines, sines, at);
  }
}

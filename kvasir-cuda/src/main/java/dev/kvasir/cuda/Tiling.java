package dev.kvasir.cuda;

/**
 * How a block of attention is cut: its warps, and the units that each of them has on the way at the
 * same time.
 */
record Tiling(int warps, int stages) {
  /** What a kernel's variables take of shared memory beside its rings. */
  private static final int OWN_SHARED_BYTES = 2304;

  static final int MOST_STAGES = 4;

  /** Units are many if all of a block's warps go round so often. */
  private static final int MANY_ROUNDS = 4;

  /**
   * @param units of a block, at the most
   * @param mostWarps that the kernel's registers allow
   */
  static Tiling of(PageFormat format, int headDim, int mostWarps, int sharedBytes, int units) {
    int slots = slots(format, headDim, sharedBytes);
    Tiling wide = fitting(mostWarps, slots);
    Tiling narrow = fitting(Math.min(mostWarps, 8), slots);
    return units >= MANY_ROUNDS * wide.warps ? wide : narrow;
  }

  /** Up to so many warps, two slots each if there is room, and more where it is left. */
  private static Tiling fitting(int mostWarps, int slots) {
    int warps = Math.min(mostWarps, Math.max(slots / 2, 1));
    if (warps > 4) {
      warps -= warps % 4; // as many for each of a multiprocessor's four schedulers
    }
    return new Tiling(warps, Math.min(slots / warps, MOST_STAGES));
  }

  private static int slots(PageFormat format, int headDim, int sharedBytes) {
    return (sharedBytes - OWN_SHARED_BYTES) / format.unitBytes(headDim);
  }

  int sharedBytes(PageFormat format, int headDim) {
    return warps * stages * format.unitBytes(headDim);
  }
}

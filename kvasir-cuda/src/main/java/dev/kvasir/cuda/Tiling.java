package dev.kvasir.cuda;

/**
 * How a block of attention is cut: its warps, and the units that each of them has on the way at the
 * same time.
 */
record Tiling(int warps, int stages) {
  /** What a kernel's variables take of shared memory beside its rings. */
  private static final int OWN_SHARED_BYTES = 2304;

  /** Units are many if sixteen warps go round so often. */
  private static final int MANY = 64;

  private static final int FEW_WARPS = 8;

  /** From this size on as many are on the way with eight warps as memory can bring. */
  private static final int LARGE_UNIT_BYTES = 8192;

  /**
   * Many units: as many warps as there are slots for, with a second slot each if there is room;
   * more of them gained nothing on an H200. Few: eight warps, so that each has one or two.
   *
   * @param units of a block, at the most
   * @param mostWarps that the kernel's registers allow
   */
  static Tiling of(PageFormat format, int headDim, int maxWarps, int sharedBytes, int units) {
    int unit = format.unitBytes(headDim);
    int available = sharedBytes - OWN_SHARED_BYTES - format.blockBytes();
    boolean large = !format.isQuantized() && unit >= LARGE_UNIT_BYTES;
    return units >= MANY && !large
        ? fitting(maxWarps, available, unit, format.warpBytes(), 2)
        : fitting(
            Math.min(maxWarps, FEW_WARPS), available, unit, format.warpBytes(), large ? 2 : 3);
  }

  private static Tiling fitting(
      int maxWarps, int available, int unit, int warpBytes, int maxStages) {
    int warps = Math.min(maxWarps, available / (unit + warpBytes));
    if (warps > 4) {
      warps -= warps % 4; // as many for each of a multiprocessor's four schedulers
    }
    return new Tiling(warps, Math.min((available / warps - warpBytes) / unit, maxStages));
  }

  int sharedBytes(PageFormat format, int headDim) {
    return warps * (stages * format.unitBytes(headDim) + format.warpBytes()) + format.blockBytes();
  }
}

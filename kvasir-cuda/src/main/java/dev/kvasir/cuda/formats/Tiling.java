package dev.kvasir.cuda.formats;

/** The tiling of an attention block: its warps, and the number of units that each has in flight. */
record Tiling(int warps, int stages) {
  /** Static shared memory of a kernel, outside its ring buffers. */
  private static final int OWN_SHARED_BYTES = 2304;

  /** Number of units from which on all warps are used. */
  private static final int MANY = 64;

  private static final int FEW_WARPS = 8;

  /** From this size on, eight warps keep enough bytes in flight to saturate memory. */
  private static final int LARGE_UNIT_BYTES = 8192;

  /**
   * Returns the tiling for a number of units. Many units: as many warps as fit, with a second stage
   * each if possible; more stages gained nothing on an H200. Few units: eight warps, so that each
   * has one or two.
   *
   * @param maxWarps limit set by the kernel's registers
   * @param units maximum units of a block
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
      warps -= warps % 4; // the same number for each of a multiprocessor's four schedulers
    }
    return new Tiling(warps, Math.min((available / warps - warpBytes) / unit, maxStages));
  }

  int sharedBytes(PageFormat format, int headDim) {
    return warps * (stages * format.unitBytes(headDim) + format.warpBytes()) + format.blockBytes();
  }
}

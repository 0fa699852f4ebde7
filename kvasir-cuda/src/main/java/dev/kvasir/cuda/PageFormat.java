package dev.kvasir.cuda;

/** How a sequence's older pages lie on a device. Its newest tokens are halves in any case. */
public enum PageFormat {
  /** Halves. */
  FP16(16),
  /** Codes of four bits, keys by channel and values by token. */
  KIVI4(4),
  /** Codes of two bits. */
  KIVI2(2);

  private final int bits;

  PageFormat(int bits) {
    this.bits = bits;
  }

  public int bits() {
    return bits;
  }

  public boolean isPacked() {
    return this != FP16;
  }

  /** Bytes of 64 tokens of one KV head. */
  public int pageBytes(int headDim) {
    return isPacked() ? new PackedPage(bits, headDim).bytes() : new HalfPage(headDim).bytes();
  }

  /** Bytes that a warp takes at a time: a packed page, or 16 tokens in halves. */
  int unitBytes(int headDim) {
    return isPacked() ? pageBytes(headDim) : new HalfPage(headDim).tileBytes();
  }

  /** Units of a page. */
  int pageUnits() {
    return isPacked() ? 1 : HalfPage.TILES;
  }

  /** As kernels are named. */
  String kernelName() {
    return isPacked() ? "kivi" + bits : "fp16";
  }
}

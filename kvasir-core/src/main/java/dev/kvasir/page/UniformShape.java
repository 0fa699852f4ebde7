package dev.kvasir.page;

/**
 * The sizes of a {@link UniformPage}. Layouts are made once: attention asks for them at every page.
 */
public final class UniformShape {
  private final int kvHeads;
  private final int headDim;
  private final int keyBits;
  private final int keyGroup;
  private final int valueBits;
  private final int valueGroup;
  private final PlaneLayout keyLayout;
  private final PlaneLayout valueLayout;

  /**
   * @param keyGroup tokens of a channel that share a scale
   * @param valueGroup channels of a token that share a scale; a head with fewer has one group
   */
  public UniformShape(
      int kvHeads, int headDim, int keyBits, int keyGroup, int valueBits, int valueGroup) {
    if (Page.TOKENS % keyGroup != 0) {
      throw new IllegalArgumentException(
          "keyGroup is %d; expected a divisor of %d".formatted(keyGroup, Page.TOKENS));
    }
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.keyBits = keyBits;
    this.keyGroup = keyGroup;
    this.valueBits = valueBits;
    this.valueGroup = valueGroup;
    this.keyLayout = new PlaneLayout(Page.TOKENS, headDim, keyBits);
    int lanes = Math.ceilDiv(headDim, PlaneLayout.VECTOR) * PlaneLayout.VECTOR;
    this.valueLayout = new PlaneLayout(lanes, Page.TOKENS, valueBits);
  }

  public int kvHeads() {
    return kvHeads;
  }

  public int headDim() {
    return headDim;
  }

  public int keyBits() {
    return keyBits;
  }

  public int keyGroup() {
    return keyGroup;
  }

  public int valueBits() {
    return valueBits;
  }

  public int valueGroup() {
    return valueGroup;
  }

  /** Lanes are tokens, entries channels. */
  public PlaneLayout keyLayout() {
    return keyLayout;
  }

  /** Lanes are channels, entries tokens. */
  public PlaneLayout valueLayout() {
    return valueLayout;
  }

  /** Bytes of a head's key scales; its zeros take as many. */
  public int keyScaleBytes() {
    return Page.TOKENS / keyGroup * headDim * Short.BYTES;
  }

  /** Bytes of a head's value scales; its zeros take as many. */
  public int valueScaleBytes() {
    return Math.ceilDiv(headDim, valueGroup) * Page.TOKENS * Short.BYTES;
  }

  private int headBytes() {
    return keyLayout.bytes() + valueLayout.bytes() + 2 * (keyScaleBytes() + valueScaleBytes());
  }

  public long keyCodesOffset(int head) {
    return (long) head * headBytes();
  }

  public long keyScalesOffset(int head) {
    return keyCodesOffset(head) + keyLayout.bytes();
  }

  public long valueCodesOffset(int head) {
    return keyScalesOffset(head) + 2L * keyScaleBytes();
  }

  public long valueScalesOffset(int head) {
    return valueCodesOffset(head) + valueLayout.bytes();
  }

  public long codeBytes() {
    return (long) kvHeads * (keyLayout.bytes() + valueLayout.bytes());
  }

  public long bytes() {
    return (long) kvHeads * headBytes();
  }
}

package dev.kvasir.page;

/**
 * The sizes of a {@link UniformPage}.
 *
 * @param keyGroup tokens of a channel that share a scale
 * @param valueGroup channels of a token that share a scale; a head with fewer has one group
 */
public record UniformShape(
    int kvHeads, int headDim, int keyBits, int keyGroup, int valueBits, int valueGroup) {

  public UniformShape {
    if (Page.TOKENS % keyGroup != 0) {
      throw new IllegalArgumentException(
          "keyGroup is %d; expected a divisor of %d".formatted(keyGroup, Page.TOKENS));
    }
  }

  /** Lanes are tokens, entries channels. */
  public PlaneLayout keyLayout() {
    return new PlaneLayout(Page.TOKENS, headDim, keyBits);
  }

  /** Lanes are channels, entries tokens. */
  public PlaneLayout valueLayout() {
    int lanes = Math.ceilDiv(headDim, PlaneLayout.VECTOR) * PlaneLayout.VECTOR;
    return new PlaneLayout(lanes, Page.TOKENS, valueBits);
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
    return keyLayout().bytes() + valueLayout().bytes() + 2 * (keyScaleBytes() + valueScaleBytes());
  }

  public long keyCodesOffset(int head) {
    return (long) head * headBytes();
  }

  public long keyScalesOffset(int head) {
    return keyCodesOffset(head) + keyLayout().bytes();
  }

  public long valueCodesOffset(int head) {
    return keyScalesOffset(head) + 2L * keyScaleBytes();
  }

  public long valueScalesOffset(int head) {
    return valueCodesOffset(head) + valueLayout().bytes();
  }

  public long codeBytes() {
    return (long) kvHeads * (keyLayout().bytes() + valueLayout().bytes());
  }

  public long bytes() {
    return (long) kvHeads * headBytes();
  }
}

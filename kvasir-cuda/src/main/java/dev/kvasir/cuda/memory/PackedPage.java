package dev.kvasir.cuda.memory;

/**
 * The layout of a packed page: 64 tokens of one KV head as codes of 1, 2, 3, 4 or 8 bits. Each
 * group of 32 has a scale and a zero: keys per channel over 32 tokens, values per token over 32
 * channels. A mask extracts fragments of matrix operands from the code words; docs/gpu.md shows
 * them.
 *
 * <pre>
 * key codes     headDim * 8 * keyBits
 * key scales    headDim / 32 times (2 groups, 4 quads, 4 words)
 * key zeros     headDim / 16 times (4 quads, 4 words)
 * value codes   headDim * 8 * valueBits
 * value scales  2 * pairs times (2 groups, 4 quads, 4 words)
 * value zeros   2 times (headDim / 32 groups, 4 quads, 4 words)
 *
 * bytes = headDim * (8 * keyBits + 8 * valueBits + 12) + 256 * pairs
 * </pre>
 *
 * A lane holds value codes of 8 channels in the lower half of the head and 8 in the upper half.
 * Their two groups of 32 form one of {@code headDim / 64} pairs. With 96 channels there are three
 * pairs: each group is in two of them, so its scales are stored twice. Codes of 3 bits are their
 * lower two bits, stored like codes of 2 bits, then their upper bits, stored like codes of one.
 */
public record PackedPage(int keyBits, int valueBits, int headDim) {
  /** Page bytes are multiples of this. */
  public static final int ALIGNMENT = 128;

  private static final int TOKENS = Fp16Page.TOKENS;
  static final int GROUP = 32;

  /** A page with the same bits for keys and values. */
  public PackedPage(int bits, int headDim) {
    this(bits, bits, headDim);
  }

  public int bytes() {
    return keyBytes() + valueCodeBytes() + valueScaleBytes() + TOKENS * groups() * Short.BYTES;
  }

  public int keyCodeBytes() {
    return TOKENS * headDim * keyBits / Byte.SIZE;
  }

  int valueCodeBytes() {
    return TOKENS * headDim * valueBits / Byte.SIZE;
  }

  int keyScaleBytes() {
    return 2 * headDim * Short.BYTES;
  }

  public int keyBytes() {
    return keyCodeBytes() + 2 * keyScaleBytes();
  }

  int pairs() {
    return headDim == 96 ? 3 : headDim / 64;
  }

  int groups() {
    return headDim / GROUP;
  }

  int valueScaleBytes() {
    return 256 * pairs();
  }
}

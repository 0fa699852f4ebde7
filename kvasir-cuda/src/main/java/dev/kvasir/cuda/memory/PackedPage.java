package dev.kvasir.cuda.memory;

/**
 * The layout of a packed page: 64 tokens of one KV head as codes of 2, 4 or 8 bits. Each group of
 * 32 has a scale and a zero: keys per channel over 32 tokens, values per token over 32 channels. A
 * mask extracts fragments of matrix operands from the code words; docs/gpu.md shows them.
 *
 * <pre>
 * key codes     headDim * 8 * bits
 * key scales    headDim / 32 times (2 groups, 4 quads, 4 words)
 * key zeros     headDim / 16 times (4 quads, 4 words)
 * value codes   headDim * 8 * bits
 * value scales  2 * pairs times (2 groups, 4 quads, 4 words)
 * value zeros   2 times (headDim / 32 groups, 4 quads, 4 words)
 *
 * bytes = headDim * (16 * bits + 12) + 256 * pairs
 * </pre>
 *
 * A lane holds value codes of 8 channels in the lower half of the head and 8 in the upper half.
 * Their two groups of 32 form one of {@code headDim / 64} pairs. With 96 channels there are three
 * pairs: each group is in two of them, so its scales are stored twice.
 */
public record PackedPage(int bits, int headDim) {
  private static final int TOKENS = Fp16Page.TOKENS;
  static final int GROUP = 32;

  public int bytes() {
    return keyBytes() + codeBytes() + valueScaleBytes() + TOKENS * groups() * Short.BYTES;
  }

  public int codeBytes() {
    return TOKENS * headDim * bits / Byte.SIZE;
  }

  int keyScaleBytes() {
    return 2 * headDim * Short.BYTES;
  }

  public int keyBytes() {
    return codeBytes() + 2 * keyScaleBytes();
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

package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

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
  private static final int GROUP = 32;

  public int bytes() {
    return keyBytes() + codeBytes() + valueScaleBytes() + TOKENS * groups() * Short.BYTES;
  }

  public int codeBytes() {
    return TOKENS * headDim * bits / Byte.SIZE;
  }

  private int keyScaleBytes() {
    return 2 * headDim * Short.BYTES;
  }

  public int keyBytes() {
    return codeBytes() + 2 * keyScaleBytes();
  }

  private int pairs() {
    return headDim == 96 ? 3 : headDim / 64;
  }

  private int groups() {
    return headDim / GROUP;
  }

  private int valueScaleBytes() {
    return 256 * pairs();
  }

  /** Returns the first bit of a key's code, counted from the start of the page. */
  int keyCodeBit(int token, int channel) {
    int row = token % 8;
    int tile = token % GROUP / 8;
    int step = channel / 16;
    int register = token / GROUP + 2 * (channel % 16 / 8);
    int lane = 4 * row + channel % 8 / 2;
    int index = bits * step + word(tile, register);
    return codeBit(0, index, lane, field(register, tile % 2), channel % 2);
  }

  /** Returns the first bit of a value's code, counted from the start of the page. */
  int valueCodeBit(int token, int channel) {
    int upper = channel / (headDim / 2);
    int tile = channel % (headDim / 2) / 8;
    int register = upper + 2 * (token % 16 / 8);
    int lane = 4 * (channel % 8) + token % 8 / 2;
    int index = valueStep(token, upper) * headDim * bits / 64 + word(tile, register);
    return codeBit(keyBytes(), index, lane, field(register, tile % 2), token % 2);
  }

  /** Upper channels take the two groups of tokens in reverse order. */
  private static int valueStep(int token, int upper) {
    return 2 * (token / GROUP ^ upper) + token % GROUP / 16;
  }

  /** Two tiles share a word of 2-bit codes; with 8 bits a word holds half a tile. */
  private int field(int register, int odd) {
    return switch (bits) {
      case 2 -> register % 2 + 2 * odd + 4 * (register / 2);
      case 4 -> register;
      default -> register % 2;
    };
  }

  /** Returns the word of a fragment within its step. */
  private int word(int tile, int register) {
    return switch (bits) {
      case 2 -> tile / 2;
      case 4 -> tile;
      default -> 2 * tile + register / 2;
    };
  }

  /**
   * @param index index of a word within its lane
   */
  private int codeBit(int at, int index, int lane, int field, int half) {
    int word = Fp16Page.CHUNK_BYTES * (index / 4) + 16 * lane + Integer.BYTES * (index % 4);
    return Byte.SIZE * (at + word) + 16 * half + bits * field;
  }

  int keyScaleAt(int token, int channel) {
    return codeBytes()
        + 128 * (channel / 32)
        + 64 * (token / GROUP)
        + 16 * (channel % 8 / 2)
        + Integer.BYTES * (2 * (channel % 32 / 16) + channel % 16 / 8)
        + Short.BYTES * (channel % 2);
  }

  int keyZeroAt(int token, int channel) {
    return codeBytes()
        + keyScaleBytes()
        + 64 * (channel / 16)
        + 16 * (channel % 8 / 2)
        + Integer.BYTES * (token / GROUP + 2 * (channel % 16 / 8))
        + Short.BYTES * (channel % 2);
  }

  int valueScaleAt(int token, int channel) {
    int upper = channel / (headDim / 2);
    int pair = channel % (headDim / 2) / 16 * pairs() / groups();
    int index = valueStep(token, upper) * 2 * pairs() + 2 * pair + token % 16 / 8;
    return keyBytes()
        + codeBytes()
        + 128 * (index / 4)
        + 64 * upper
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (index % 4)
        + Short.BYTES * (token % 2);
  }

  int valueZeroAt(int token, int channel) {
    return keyBytes()
        + codeBytes()
        + valueScaleBytes()
        + 64 * (token % GROUP / 16 * groups() + channel / GROUP)
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (token / GROUP + 2 * (token % 16 / 8))
        + Short.BYTES * (token % 2);
  }

  int code(MemorySegment page, int bit) {
    int word = page.get(JAVA_INT_UNALIGNED, bit / Integer.SIZE * Integer.BYTES);
    return word >>> bit % Integer.SIZE & (1 << bits) - 1;
  }

  static short half(MemorySegment page, int at) {
    return page.get(JAVA_SHORT_UNALIGNED, at);
  }

  /**
   * Returns the dequantized key element.
   *
   * @param unit factor from a stored scale to a quantization step
   */
  public float key(MemorySegment page, int token, int channel, float unit) {
    return expanded(
        page,
        keyCodeBit(token, channel),
        keyScaleAt(token, channel),
        keyZeroAt(token, channel),
        unit);
  }

  /**
   * Returns the dequantized value element.
   *
   * @param unit factor from a stored scale to a quantization step
   */
  public float value(MemorySegment page, int token, int channel, float unit) {
    return expanded(
        page,
        valueCodeBit(token, channel),
        valueScaleAt(token, channel),
        valueZeroAt(token, channel),
        unit);
  }

  private float expanded(MemorySegment page, int codeBit, int scaleAt, int zeroAt, float unit) {
    return Math.fma(
        Float.float16ToFloat(half(page, scaleAt)) * unit,
        code(page, codeBit),
        Float.float16ToFloat(half(page, zeroAt)));
  }
}

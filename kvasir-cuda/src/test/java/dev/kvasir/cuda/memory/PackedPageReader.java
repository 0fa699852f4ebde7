package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Reads codes, scales and dequantized elements of a {@link PackedPage} on the host. */
public record PackedPageReader(PackedPage layout) {
  public PackedPageReader(int bits, int headDim) {
    this(new PackedPage(bits, headDim));
  }

  /**
   * Returns the bits of keys or values.
   *
   * @param side 0 for keys, 1 for values
   */
  public int bits(int side) {
    return side == 0 ? layout.keyBits() : layout.valueBits();
  }

  public int headDim() {
    return layout.headDim();
  }

  public int bytes() {
    return layout.bytes();
  }

  /**
   * Returns the bits of a key's code, counted from the start of the page, from the lowest one on.
   */
  public int[] keyCodeBits(int token, int channel) {
    int row = token % 8;
    int tile = token % PackedPage.GROUP / 8;
    int step = channel / 16;
    int register = token / PackedPage.GROUP + 2 * (channel % 16 / 8);
    int lane = 4 * row + channel % 8 / 2;
    return codeBits(0, layout.keyBits(), 4 * step + tile, lane, register, channel % 2);
  }

  /**
   * Returns the bits of a value's code, counted from the start of the page, from the lowest one on.
   */
  int[] valueCodeBits(int token, int channel) {
    int half = layout.headDim() / 2;
    int upper = channel / half;
    int register = upper + 2 * (token % 16 / 8);
    int lane = 4 * (channel % 8) + token % 8 / 2;
    int fragment = valueStep(token, upper) * layout.headDim() / 16 + channel % half / 8;
    return codeBits(layout.keyBytes(), layout.valueBits(), fragment, lane, register, token % 2);
  }

  /** Upper channels take the two groups of tokens in reverse order. */
  private static int valueStep(int token, int upper) {
    return 2 * (token / PackedPage.GROUP ^ upper) + token % PackedPage.GROUP / 16;
  }

  /**
   * Returns the bits of a code. Those of 3 bits are in two planes.
   *
   * @param at byte offset of the codes
   * @param fragment index of a matrix operand of 16 by 16 codes
   */
  private int[] codeBits(int at, int bits, int fragment, int lane, int register, int half) {
    int[] found = new int[bits];
    int low = bits == 3 ? 2 : bits;
    int plane = 8 * layout.headDim() * low;
    for (int bit = 0; bit < bits; bit++) {
      found[bit] =
          bit < low
              ? codeBit(at, low, fragment, lane, register, half) + bit
              : codeBit(at + plane, 1, fragment, lane, register, half);
    }
    return found;
  }

  /** Returns the lowest bit of a code. A word has fields of four, two, one or half a fragment. */
  private static int codeBit(int at, int bits, int fragment, int lane, int register, int half) {
    int field =
        switch (bits) {
          case 1 -> 2 * (fragment % 4) + register % 2 + 8 * (register / 2);
          case 2 -> register % 2 + 2 * (fragment % 2) + 4 * (register / 2);
          case 4 -> register;
          default -> register % 2;
        };
    int word = bits == 8 ? 2 * fragment + register / 2 : fragment * bits / 4;
    int place =
        bits == 1
            ? Integer.BYTES * (32 * word + lane)
            : Fp16Page.CHUNK_BYTES * (word / 4) + 16 * lane + Integer.BYTES * (word % 4);
    return Byte.SIZE * (at + place) + 16 * half + bits * field;
  }

  int keyScaleAt(int token, int channel) {
    return layout.keyCodeBytes()
        + 128 * (channel / 32)
        + 64 * (token / PackedPage.GROUP)
        + 16 * (channel % 8 / 2)
        + Integer.BYTES * (2 * (channel % 32 / 16) + channel % 16 / 8)
        + Short.BYTES * (channel % 2);
  }

  int keyZeroAt(int token, int channel) {
    return layout.keyCodeBytes()
        + layout.keyScaleBytes()
        + 64 * (channel / 16)
        + 16 * (channel % 8 / 2)
        + Integer.BYTES * (token / PackedPage.GROUP + 2 * (channel % 16 / 8))
        + Short.BYTES * (channel % 2);
  }

  int valueScaleAt(int token, int channel) {
    int upper = channel / (layout.headDim() / 2);
    int pair = channel % (layout.headDim() / 2) / 16 * layout.pairs() / layout.groups();
    int index = valueStep(token, upper) * 2 * layout.pairs() + 2 * pair + token % 16 / 8;
    return layout.keyBytes()
        + layout.valueCodeBytes()
        + 128 * (index / 4)
        + 64 * upper
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (index % 4)
        + Short.BYTES * (token % 2);
  }

  int valueZeroAt(int token, int channel) {
    return layout.keyBytes()
        + layout.valueCodeBytes()
        + layout.valueScaleBytes()
        + 64 * (token % PackedPage.GROUP / 16 * layout.groups() + channel / PackedPage.GROUP)
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (token / PackedPage.GROUP + 2 * (token % 16 / 8))
        + Short.BYTES * (token % 2);
  }

  /** Returns a code by its bits. */
  public int code(MemorySegment page, int[] bits) {
    int code = 0;
    for (int i = 0; i < bits.length; i++) {
      int word = page.get(JAVA_INT_UNALIGNED, bits[i] / Integer.SIZE * Integer.BYTES);
      code |= (word >>> bits[i] % Integer.SIZE & 1) << i;
    }
    return code;
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
        keyCodeBits(token, channel),
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
        valueCodeBits(token, channel),
        valueScaleAt(token, channel),
        valueZeroAt(token, channel),
        unit);
  }

  private float expanded(MemorySegment page, int[] codeBits, int scaleAt, int zeroAt, float unit) {
    return Math.fma(
        Float.float16ToFloat(half(page, scaleAt)) * unit,
        code(page, codeBits),
        Float.float16ToFloat(half(page, zeroAt)));
  }
}

package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Reads codes, scales and dequantized elements of a {@link PackedPage} on the host. */
public record PackedPageReader(PackedPage layout) {
  public PackedPageReader(int bits, int headDim) {
    this(new PackedPage(bits, headDim));
  }

  public int bits() {
    return layout.bits();
  }

  public int headDim() {
    return layout.headDim();
  }

  public int bytes() {
    return layout.bytes();
  }

  /** Returns the first bit of a key's code, counted from the start of the page. */
  public int keyCodeBit(int token, int channel) {
    int row = token % 8;
    int tile = token % PackedPage.GROUP / 8;
    int step = channel / 16;
    int register = token / PackedPage.GROUP + 2 * (channel % 16 / 8);
    int lane = 4 * row + channel % 8 / 2;
    int index = layout.bits() * step + word(tile, register);
    return codeBit(0, index, lane, field(register, tile % 2), channel % 2);
  }

  /** Returns the first bit of a value's code, counted from the start of the page. */
  int valueCodeBit(int token, int channel) {
    int upper = channel / (layout.headDim() / 2);
    int tile = channel % (layout.headDim() / 2) / 8;
    int register = upper + 2 * (token % 16 / 8);
    int lane = 4 * (channel % 8) + token % 8 / 2;
    int index =
        valueStep(token, upper) * layout.headDim() * layout.bits() / 64 + word(tile, register);
    return codeBit(layout.keyBytes(), index, lane, field(register, tile % 2), token % 2);
  }

  /** Upper channels take the two groups of tokens in reverse order. */
  private static int valueStep(int token, int upper) {
    return 2 * (token / PackedPage.GROUP ^ upper) + token % PackedPage.GROUP / 16;
  }

  /** Two tiles share a word of 2-bit codes; with 8 layout.bits() a word holds half a tile. */
  private int field(int register, int odd) {
    return switch (layout.bits()) {
      case 2 -> register % 2 + 2 * odd + 4 * (register / 2);
      case 4 -> register;
      default -> register % 2;
    };
  }

  /** Returns the word of a fragment within its step. */
  private int word(int tile, int register) {
    return switch (layout.bits()) {
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
    return Byte.SIZE * (at + word) + 16 * half + layout.bits() * field;
  }

  int keyScaleAt(int token, int channel) {
    return layout.codeBytes()
        + 128 * (channel / 32)
        + 64 * (token / PackedPage.GROUP)
        + 16 * (channel % 8 / 2)
        + Integer.BYTES * (2 * (channel % 32 / 16) + channel % 16 / 8)
        + Short.BYTES * (channel % 2);
  }

  int keyZeroAt(int token, int channel) {
    return layout.codeBytes()
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
        + layout.codeBytes()
        + 128 * (index / 4)
        + 64 * upper
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (index % 4)
        + Short.BYTES * (token % 2);
  }

  int valueZeroAt(int token, int channel) {
    return layout.keyBytes()
        + layout.codeBytes()
        + layout.valueScaleBytes()
        + 64 * (token % PackedPage.GROUP / 16 * layout.groups() + channel / PackedPage.GROUP)
        + 16 * (token % 8 / 2)
        + Integer.BYTES * (token / PackedPage.GROUP + 2 * (token % 16 / 8))
        + Short.BYTES * (token % 2);
  }

  public int code(MemorySegment page, int bit) {
    int word = page.get(JAVA_INT_UNALIGNED, bit / Integer.SIZE * Integer.BYTES);
    return word >>> bit % Integer.SIZE & (1 << layout.bits()) - 1;
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

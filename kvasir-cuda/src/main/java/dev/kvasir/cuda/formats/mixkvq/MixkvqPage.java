package dev.kvasir.cuda.formats.mixkvq;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The layout of a MixKVQ page: 64 tokens of one KV head as 2-bit codes. Wide key channels, of 4
 * bits or bf16, are stored elsewhere.
 *
 * <pre>
 * page    keys of a {@link PackedPage} of 2 bits, wide channels zero | header | values of it
 *
 * header  u64 address of wide channels; u32 number of 4-bit channels; u32 number of bf16 channels;
 *         bytes: 4-bit channels, zeros up to a multiple of 16, bf16 channels
 *         bytes = headDim + 64
 *
 * wide    for 16 channels of 4 bits each  codes 512 | scales 64 | zeros 64
 *           code   lane 4 * (token % 8) + channel % 8 / 2; word token % 32 / 8; half channel % 2;
 *                  field token / 32 + 2 * (channel / 8)
 *           scale  (2 groups of tokens, 4 quads, 2 eights of channels, 2)
 *           zero   (4 quads, 2 eights of channels, 2 groups of tokens, 2)
 *         for each bf16 channel           (2 groups of tokens, 8 rows, 4 tiles) bf16
 *         bytes = 640 * ceil(mid / 16) + 128 * bf16
 * </pre>
 *
 * Channel indices are relative to their 16.
 */
record MixkvqPage(int headDim) {
  static final int BITS = 2;
  static final int MID_BITS = 4;

  /** Number of 4-bit channels that are multiplied together. */
  static final int STEP = 16;

  static final int CHANNELS_AT = 16;
  private static final int STEP_CODE_BYTES = 512;
  private static final int STEP_SCALE_BYTES = 64;
  static final int STEP_BYTES = STEP_CODE_BYTES + 2 * STEP_SCALE_BYTES;
  static final int BF16_BYTES = Fp16Page.TOKENS * Short.BYTES;
  private static final int GROUP = 32;

  /**
   * Returns the bytes of wide channels.
   *
   * @param mid number of 4-bit channels
   * @param bf16 number of bf16 channels
   */
  static int wideBytes(int mid, int bf16) {
    return STEP_BYTES * Math.ceilDiv(mid, STEP) + BF16_BYTES * bf16;
  }

  /** Returns the code bytes of wide channels. */
  static int wideCodeBytes(int mid, int bf16) {
    return Fp16Page.TOKENS * mid * MID_BITS / Byte.SIZE + BF16_BYTES * bf16;
  }

  PackedPage codes() {
    return new PackedPage(BITS, headDim);
  }

  int headerBytes() {
    return headDim + 64;
  }

  int bytes() {
    return codes().bytes() + headerBytes();
  }

  /** Returns the device address of the wide channels. */
  long wideAddress(MemorySegment page) {
    return page.get(JAVA_LONG_UNALIGNED, codes().keyBytes());
  }

  int mid(MemorySegment page) {
    return page.get(JAVA_INT_UNALIGNED, codes().keyBytes() + 8L);
  }

  int bf16(MemorySegment page) {
    return page.get(JAVA_INT_UNALIGNED, codes().keyBytes() + 12L);
  }

  int wideBytes(MemorySegment page) {
    return wideBytes(mid(page), bf16(page));
  }

  int midChannel(MemorySegment page, int place) {
    return channel(page, place);
  }

  int bf16Channel(MemorySegment page, int place) {
    return channel(page, STEP * Math.ceilDiv(mid(page), STEP) + place);
  }

  private int channel(MemorySegment page, int index) {
    return Byte.toUnsignedInt(page.get(JAVA_BYTE, codes().keyBytes() + CHANNELS_AT + (long) index));
  }

  /** Returns the 2-bit codes as a page without wide channels. */
  MemorySegment withoutWideChannels(MemorySegment page) {
    int keyBytes = codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(
        page, (long) keyBytes + headerBytes(), both, keyBytes, codes().bytes() - keyBytes);
    return both;
  }

  /**
   * Returns the code of a 4-bit channel.
   *
   * @param place index among the 4-bit channels
   */
  static int midCode(MemorySegment wide, int token, int place) {
    int within = place % STEP;
    int lane = 4 * (token % 8) + within % 8 / 2;
    int word = wide.get(JAVA_INT_UNALIGNED, stepAt(place) + 16L * lane + token % GROUP / 8 * 4);
    int field = token / GROUP + 2 * (within / 8);
    return word >>> 16 * (within % 2) + MID_BITS * field & (1 << MID_BITS) - 1;
  }

  static short midScale(MemorySegment wide, int token, int place) {
    int within = place % STEP;
    int quad = 4 * (token / GROUP) + within % 8 / 2;
    long at = stepAt(place) + STEP_CODE_BYTES + 8L * quad + 4 * (within / 8) + 2 * (within % 2);
    return wide.get(JAVA_SHORT_UNALIGNED, at);
  }

  static short midZero(MemorySegment wide, int token, int place) {
    int within = place % STEP;
    int word = token / GROUP + 2 * (within / 8);
    long at = 16L * (within % 8 / 2) + 4 * word + 2 * (within % 2);
    return wide.get(JAVA_SHORT_UNALIGNED, stepAt(place) + STEP_CODE_BYTES + STEP_SCALE_BYTES + at);
  }

  private static long stepAt(int place) {
    return (long) STEP_BYTES * (place / STEP);
  }

  /**
   * Returns an element of a bf16 channel, as bf16 bits.
   *
   * @param mid number of preceding 4-bit channels
   */
  static short bf16(MemorySegment wide, int mid, int token, int place) {
    int row = token % 8 + 8 * (token / GROUP);
    long at = wideBytes(mid, place) + 8L * row + 2 * (token % GROUP / 8);
    return wide.get(JAVA_SHORT_UNALIGNED, at);
  }

  /** Returns the dequantized keys of a page. // (64, headDim) */
  float[] keys(MemorySegment page, MemorySegment wide) {
    float[] keys = new float[Fp16Page.TOKENS * headDim];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = codes().key(page, i / headDim, i % headDim, 1);
    }
    int mid = mid(page);
    for (int token = 0; token < Fp16Page.TOKENS; token++) {
      for (int place = 0; place < mid; place++) {
        keys[token * headDim + midChannel(page, place)] =
            Math.fma(
                Float.float16ToFloat(midScale(wide, token, place)),
                midCode(wide, token, place),
                Float.float16ToFloat(midZero(wide, token, place)));
      }
      for (int place = 0; place < bf16(page); place++) {
        keys[token * headDim + bf16Channel(page, place)] =
            Float.intBitsToFloat(bf16(wide, mid, token, place) << 16);
      }
    }
    return keys;
  }
}

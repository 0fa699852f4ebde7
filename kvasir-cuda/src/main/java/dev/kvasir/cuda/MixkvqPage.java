package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * 64 tokens of one KV head as codes of two bits, with channels of keys that are wider elsewhere.
 *
 * <pre>
 * page    keys of a {@link PackedPage} of two bits, wider channels zero | header | values of it
 *
 * header  u64 where wider channels lie; u32 how many have four bits; u32 how many are kept;
 *         bytes: channels of four bits, zeros up to a multiple of 16, channels that are kept
 *         bytes = headDim + 64
 *
 * wider   for 16 channels of four bits each  codes 512 | scales 64 | zeros 64
 *           code   lane 4 * (token % 8) + channel % 8 / 2; word token % 32 / 8; half channel % 2;
 *                  field token / 32 + 2 * (channel / 8)
 *           scale  (2 groups of tokens, 4 quads, 2 eights of channels, 2)
 *           zero   (4 quads, 2 eights of channels, 2 groups of tokens, 2)
 *         for each channel that is kept       (2 groups of tokens, 8 rows, 4 tiles) brain halves
 *         bytes = 640 * ceil(mid / 16) + 128 * kept
 * </pre>
 *
 * with channels counted within their 16.
 */
record MixkvqPage(int headDim) {
  static final int BITS = 2;
  static final int MID_BITS = 4;

  /** Channels of four bits that are multiplied together. */
  static final int STEP = 16;

  static final int CHANNELS_AT = 16;
  private static final int STEP_CODE_BYTES = 512;
  private static final int STEP_SCALE_BYTES = 64;
  static final int STEP_BYTES = STEP_CODE_BYTES + 2 * STEP_SCALE_BYTES;
  static final int BF16_BYTES = Fp16Page.TOKENS * Short.BYTES;
  private static final int GROUP = 32;

  /** Of so many channels of four bits and so many that are kept. */
  static int wideBytes(int mid, int bf16) {
    return STEP_BYTES * Math.ceilDiv(mid, STEP) + BF16_BYTES * bf16;
  }

  /** Of codes alone. */
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

  /** Where wider channels lie on the device. */
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

  /** The codes of two bits as a page without wider channels has them. */
  MemorySegment withoutWideChannels(MemorySegment page) {
    int keyBytes = codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(
        page, (long) keyBytes + headerBytes(), both, keyBytes, codes().bytes() - keyBytes);
    return both;
  }

  /** Of a channel of four bits by its place among them. */
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
   * A brain half of a channel that is kept.
   *
   * @param mid channels of four bits before them
   */
  static short bf16(MemorySegment wide, int mid, int token, int place) {
    int row = token % 8 + 8 * (token / GROUP);
    long at = wideBytes(mid, place) + 8L * row + 2 * (token % GROUP / 8);
    return wide.get(JAVA_SHORT_UNALIGNED, at);
  }

  /** What attention takes the keys of a page for. // (64, headDim) */
  float[] keys(MemorySegment page, MemorySegment wide) {
    float[] keys = new float[Fp16Page.TOKENS * headDim];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = codes().key(page, i / headDim, i % headDim);
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

package dev.kvasir.cuda.formats.mixkvq;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Reads headers, codes and dequantized elements of a {@link MixkvqPage} on the host. */
record MixkvqPageReader(MixkvqPage layout) {
  static final int CHANNELS_AT = 16;
  private static final int GROUP = 32;

  MixkvqPageReader(int headDim) {
    this(new MixkvqPage(headDim));
  }

  PackedPageReader codes() {
    return new PackedPageReader(layout.codes());
  }

  /** Returns the device address of the wide channels. */
  long wideAddress(MemorySegment page) {
    return page.get(JAVA_LONG_UNALIGNED, layout.codes().keyBytes());
  }

  int mid(MemorySegment page) {
    return page.get(JAVA_INT_UNALIGNED, layout.codes().keyBytes() + 8L);
  }

  int bf16(MemorySegment page) {
    return page.get(JAVA_INT_UNALIGNED, layout.codes().keyBytes() + 12L);
  }

  int wideBytes(MemorySegment page) {
    return MixkvqPage.wideBytes(mid(page), bf16(page));
  }

  int midChannel(MemorySegment page, int place) {
    return channel(page, place);
  }

  int bf16Channel(MemorySegment page, int place) {
    return channel(page, MixkvqPage.STEP * Math.ceilDiv(mid(page), MixkvqPage.STEP) + place);
  }

  private int channel(MemorySegment page, int index) {
    return Byte.toUnsignedInt(
        page.get(JAVA_BYTE, layout.codes().keyBytes() + CHANNELS_AT + (long) index));
  }

  /** Returns the 2-bit codes as a page without wide channels. */
  MemorySegment withoutWideChannels(MemorySegment page) {
    int keyBytes = layout.codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(layout.codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(
        page,
        (long) keyBytes + layout.headerBytes(),
        both,
        keyBytes,
        layout.codes().bytes() - keyBytes);
    return both;
  }

  /**
   * Returns the code of a 4-bit channel.
   *
   * @param place index among the 4-bit channels
   */
  static int midCode(MemorySegment wide, int token, int place) {
    int within = place % MixkvqPage.STEP;
    int lane = 4 * (token % 8) + within % 8 / 2;
    int word = wide.get(JAVA_INT_UNALIGNED, stepAt(place) + 16L * lane + token % GROUP / 8 * 4);
    int field = token / GROUP + 2 * (within / 8);
    return word >>> 16 * (within % 2) + MixkvqPage.MID_BITS * field
        & (1 << MixkvqPage.MID_BITS) - 1;
  }

  static short midScale(MemorySegment wide, int token, int place) {
    int within = place % MixkvqPage.STEP;
    int quad = 4 * (token / GROUP) + within % 8 / 2;
    long at =
        stepAt(place)
            + MixkvqPage.STEP_CODE_BYTES
            + 8L * quad
            + 4 * (within / 8)
            + 2 * (within % 2);
    return wide.get(JAVA_SHORT_UNALIGNED, at);
  }

  static short midZero(MemorySegment wide, int token, int place) {
    int within = place % MixkvqPage.STEP;
    int word = token / GROUP + 2 * (within / 8);
    long at = 16L * (within % 8 / 2) + 4 * word + 2 * (within % 2);
    return wide.get(
        JAVA_SHORT_UNALIGNED,
        stepAt(place) + MixkvqPage.STEP_CODE_BYTES + MixkvqPage.STEP_SCALE_BYTES + at);
  }

  private static long stepAt(int place) {
    return (long) MixkvqPage.STEP_BYTES * (place / MixkvqPage.STEP);
  }

  /**
   * Returns an element of a bf16 channel, as bf16 bits.
   *
   * @param mid number of preceding 4-bit channels
   */
  static short bf16(MemorySegment wide, int mid, int token, int place) {
    int row = token % 8 + 8 * (token / GROUP);
    long at = MixkvqPage.wideBytes(mid, place) + 8L * row + 2 * (token % GROUP / 8);
    return wide.get(JAVA_SHORT_UNALIGNED, at);
  }

  /** Returns the dequantized keys of a page. // (64, layout.headDim()) */
  float[] keys(MemorySegment page, MemorySegment wide) {
    float[] keys = new float[Fp16Page.TOKENS * layout.headDim()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = codes().key(page, i / layout.headDim(), i % layout.headDim(), 1);
    }
    int mid = mid(page);
    for (int token = 0; token < Fp16Page.TOKENS; token++) {
      for (int place = 0; place < mid; place++) {
        keys[token * layout.headDim() + midChannel(page, place)] =
            Math.fma(
                Float.float16ToFloat(midScale(wide, token, place)),
                midCode(wide, token, place),
                Float.float16ToFloat(midZero(wide, token, place)));
      }
      for (int place = 0; place < bf16(page); place++) {
        keys[token * layout.headDim() + bf16Channel(page, place)] =
            Float.intBitsToFloat(bf16(wide, mid, token, place) << 16);
      }
    }
    return keys;
  }
}

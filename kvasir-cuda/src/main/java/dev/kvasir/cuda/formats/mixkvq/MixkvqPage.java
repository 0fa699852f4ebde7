package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;

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

  static final int STEP_CODE_BYTES = 512;
  static final int STEP_SCALE_BYTES = 64;
  static final int STEP_BYTES = STEP_CODE_BYTES + 2 * STEP_SCALE_BYTES;
  static final int BF16_BYTES = Fp16Page.TOKENS * Short.BYTES;

  /**
   * Returns the bytes of wide channels.
   *
   * @param mid number of 4-bit channels
   * @param bf16 number of bf16 channels
   */
  static int wideBytes(int mid, int bf16) {
    return STEP_BYTES * Math.ceilDiv(mid, STEP) + BF16_BYTES * bf16;
  }

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
}

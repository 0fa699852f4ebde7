package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;

/**
 * The layout of a packed page where all channels of a key share a scale and a zero. Codes and
 * values are those of a {@link PackedPage}.
 *
 * <pre>
 * key codes             headDim * 8 * bits
 * key scales and zeros  (2 groups of 32 tokens, 8 rows) times 4 scales, 4 zeros: of tokens 8i + row
 * value codes, scales and zeros
 * </pre>
 */
record TokenScaledPage(PackedPage codes) {
  private static final int ROW_BYTES = 16;

  TokenScaledPage(int bits, int headDim) {
    this(new PackedPage(bits, headDim));
  }

  int keyBytes() {
    return codes.keyCodeBytes() + Fp16Page.TOKENS * 2 * Short.BYTES;
  }

  int bytes() {
    return keyBytes() + codes.bytes() - codes.keyBytes();
  }

  /** Returns the offset of a key's scale. */
  int keyScaleAt(int token) {
    return codes.keyCodeBytes() + ROW_BYTES * (token / 32 * 8 + token % 8) + token % 32 / 8 * 2;
  }

  int keyZeroAt(int token) {
    return keyScaleAt(token) + ROW_BYTES / 2;
  }
}

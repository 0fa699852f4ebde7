package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * 64 tokens of one KV head as codes of what they differ from patterns by, and a byte for each key
 * and each value that says which pattern.
 *
 * <pre>
 * keys of a {@link PackedPage} | 64 patterns of keys | values of it | 64 patterns of values
 *
 * bank   32 patterns of keys, then 32 of values, rows of headDim halves
 * </pre>
 */
record PatternPage(int bits, int headDim) {
  /** No pattern. */
  static final int NONE = 255;

  /** Of a bank page. */
  static final int BANK_PATTERNS = 32;

  static final int MAX_BANKS = 8;

  /** With {@link #NO_ROW}, which is none. */
  static final int MAX_PATTERNS = BANK_PATTERNS * MAX_BANKS;

  private static final int TOKENS = Fp16Page.TOKENS;

  static int bankBytes(int headDim) {
    return 2 * BANK_PATTERNS * headDim * Short.BYTES;
  }

  /** Where a pattern begins in a bank page of one KV head. */
  static int patternAt(int headDim, int side, int pattern) {
    return (side * BANK_PATTERNS + pattern % BANK_PATTERNS) * headDim * Short.BYTES;
  }

  PackedPage codes() {
    return new PackedPage(bits, headDim);
  }

  int bytes() {
    return codes().bytes() + 2 * TOKENS;
  }

  /** Where the pattern of a token's key or value is said. */
  int labelAt(int side, int token) {
    return token + (side == 0 ? codes().keyBytes() : bytes() - TOKENS);
  }

  int label(MemorySegment page, int side, int token) {
    return Byte.toUnsignedInt(page.get(JAVA_BYTE, labelAt(side, token)));
  }

  /** The codes as a page without patterns has them. */
  MemorySegment residuals(MemorySegment page) {
    int keyBytes = codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(page, keyBytes + TOKENS, both, keyBytes, codes().bytes() - keyBytes);
    return both;
  }

  /** A number of a pattern. */
  float pattern(MemorySegment bank, int side, int pattern, int channel) {
    long at = patternAt(headDim, side, pattern) + (long) Short.BYTES * channel;
    return Float.float16ToFloat(bank.get(JAVA_SHORT_UNALIGNED, at));
  }
}

package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;

/**
 * The layout of a PatternKV page: 64 tokens of one KV head as codes of their residuals from
 * patterns. A byte per key and per value names the pattern.
 *
 * <pre>
 * keys of a {@link PackedPage} | 64 key labels | values of it | 64 value labels
 *
 * bank   32 patterns of keys, then 32 of values, rows of headDim halves
 * </pre>
 */
record PatternPage(int bits, int headDim) {
  /** Patterns per bank page. */
  static final int BANK_PATTERNS = 32;

  static final int MAX_BANKS = 8;

  /** Maximum number of labels, including one for no pattern. */
  static final int MAX_PATTERNS = BANK_PATTERNS * MAX_BANKS;

  private static final int TOKENS = Fp16Page.TOKENS;

  static int bankBytes(int headDim) {
    return 2 * BANK_PATTERNS * headDim * Short.BYTES;
  }

  /** Returns the byte offset of a pattern in a bank page of one KV head. */
  static int patternAt(int headDim, int side, int pattern) {
    return (side * BANK_PATTERNS + pattern % BANK_PATTERNS) * headDim * Short.BYTES;
  }

  PackedPage codes() {
    return new PackedPage(bits, headDim);
  }

  int bytes() {
    return codes().bytes() + 2 * TOKENS;
  }
}

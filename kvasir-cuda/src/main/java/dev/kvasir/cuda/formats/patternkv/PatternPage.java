package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
  /** Label for no pattern. */
  static final int NONE = 255;

  /** Patterns per bank page. */
  static final int BANK_PATTERNS = 32;

  static final int MAX_BANKS = 8;

  /** Maximum number of labels, including {@link #NONE}. */
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

  /** Returns the byte offset of the label of a token's key or value. */
  int labelAt(int side, int token) {
    return token + (side == 0 ? codes().keyBytes() : bytes() - TOKENS);
  }

  int label(MemorySegment page, int side, int token) {
    return Byte.toUnsignedInt(page.get(JAVA_BYTE, labelAt(side, token)));
  }

  /** Returns the codes as a page without labels. */
  MemorySegment residuals(MemorySegment page) {
    int keyBytes = codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(page, keyBytes + TOKENS, both, keyBytes, codes().bytes() - keyBytes);
    return both;
  }

  /** Returns an element of a pattern. */
  float pattern(MemorySegment bank, int side, int pattern, int channel) {
    long at = patternAt(headDim, side, pattern) + (long) Short.BYTES * channel;
    return Float.float16ToFloat(bank.get(JAVA_SHORT_UNALIGNED, at));
  }
}

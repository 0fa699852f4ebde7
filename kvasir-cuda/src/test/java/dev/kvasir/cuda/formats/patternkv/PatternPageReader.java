package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Reads labels and patterns of a {@link PatternPage} on the host. */
record PatternPageReader(PatternPage layout) {
  /** Label for no pattern. */
  static final int NONE = 255;

  PatternPageReader(int bits, int headDim) {
    this(new PatternPage(bits, headDim));
  }

  PackedPageReader codes() {
    return new PackedPageReader(layout.codes());
  }

  /** Returns the byte offset of the label of a token's key or value. */
  int labelAt(int side, int token) {
    return token + (side == 0 ? layout.codes().keyBytes() : layout.bytes() - Fp16Page.TOKENS);
  }

  int label(MemorySegment page, int side, int token) {
    return Byte.toUnsignedInt(page.get(JAVA_BYTE, labelAt(side, token)));
  }

  /** Returns the codes as a page without labels. */
  MemorySegment residuals(MemorySegment page) {
    int keyBytes = layout.codes().keyBytes();
    MemorySegment both = Arena.ofAuto().allocate(layout.codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, keyBytes);
    MemorySegment.copy(
        page, keyBytes + Fp16Page.TOKENS, both, keyBytes, layout.codes().bytes() - keyBytes);
    return both;
  }

  /**
   * Returns an element of a pattern.
   *
   * @param place index of the element in its stored pattern
   */
  float pattern(MemorySegment bank, int side, int pattern, int place) {
    long at = PatternPage.patternAt(layout.headDim(), side, pattern) + (long) Short.BYTES * place;
    return Float.float16ToFloat(bank.get(JAVA_SHORT_UNALIGNED, at));
  }
}

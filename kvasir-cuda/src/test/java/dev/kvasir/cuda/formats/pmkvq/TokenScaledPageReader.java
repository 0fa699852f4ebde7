package dev.kvasir.cuda.formats.pmkvq;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Reads dequantized elements of a {@link TokenScaledPage} on the host. */
record TokenScaledPageReader(TokenScaledPage layout) {
  TokenScaledPageReader(int bits, int headDim) {
    this(new TokenScaledPage(bits, headDim));
  }

  /** Returns the codes and values as a page whose key scales are missing. */
  private MemorySegment codes(MemorySegment page) {
    MemorySegment both = Arena.ofAuto().allocate(layout.codes().bytes(), 16);
    MemorySegment.copy(page, 0, both, 0, layout.codes().keyCodeBytes());
    int keyBytes = layout.codes().keyBytes();
    MemorySegment.copy(page, layout.keyBytes(), both, keyBytes, layout.codes().bytes() - keyBytes);
    return both;
  }

  /**
   * Returns the keys or values of a page.
   *
   * @param side 0 for keys, 1 for values
   * @param unit factor from a stored scale to a quantization step
   * @return (64, headDim)
   */
  float[] dequantized(MemorySegment page, int side, float unit) {
    PackedPageReader reader = new PackedPageReader(layout.codes());
    MemorySegment codes = codes(page);
    int dim = reader.headDim();
    float[] out = new float[64 * dim];
    for (int i = 0; i < out.length; i++) {
      int token = i / dim;
      int channel = i % dim;
      out[i] =
          side == 1
              ? reader.value(codes, token, channel, unit)
              : Math.fma(
                  half(page, layout.keyScaleAt(token)) * unit,
                  reader.code(codes, reader.keyCodeBits(token, channel)),
                  half(page, layout.keyZeroAt(token)));
    }
    return out;
  }

  private static float half(MemorySegment page, int at) {
    return Float.float16ToFloat(page.get(JAVA_SHORT_UNALIGNED, at));
  }
}

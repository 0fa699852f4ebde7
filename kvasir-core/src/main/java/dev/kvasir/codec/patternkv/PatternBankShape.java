package dev.kvasir.codec.patternkv;

/** The dimensions of a bank of patterns for keys or for values. */
public record PatternBankShape(int layers, int kvHeads, int headDim) {
  /** Returns the bytes of a number of patterns for each head of each layer. */
  long bytes(int patterns) {
    return (long) Short.BYTES * layers * kvHeads * headDim * patterns;
  }
}

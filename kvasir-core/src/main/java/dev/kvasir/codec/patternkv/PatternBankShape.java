package dev.kvasir.codec.patternkv;

/** How many heads of how many channels a bank has patterns for: those of keys, or of values. */
public record PatternBankShape(int layers, int kvHeads, int headDim) {
  /** Bytes of so many patterns for each head of each layer. */
  long bytes(int patterns) {
    return (long) Short.BYTES * layers * kvHeads * headDim * patterns;
  }
}

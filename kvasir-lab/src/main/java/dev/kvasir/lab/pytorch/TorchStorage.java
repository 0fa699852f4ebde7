package dev.kvasir.lab.pytorch;

/**
 * The memory that tensors are views of, an entry of the archive.
 *
 * @param key name of the entry
 * @param type of its numbers
 */
record TorchStorage(String key, NumberType type) {
  /** The types that codebooks are saved in. */
  enum NumberType {
    FLOAT(4),
    DOUBLE(8),
    HALF(2),
    BFLOAT16(2);

    private final int bytes;

    NumberType(int bytes) {
      this.bytes = bytes;
    }

    int bytes() {
      return bytes;
    }
  }
}

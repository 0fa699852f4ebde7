package dev.kvasir.lab.codebook;

import java.io.Serializable;
import java.util.zip.CRC32C;

/**
 * Vectors of the tokens of a stretch that a sample keeps.
 *
 * @param heads in the order of {@link VectorSample}: (tokens, headDim) halves each, little-endian
 */
record SegmentVectors(byte[][] heads) implements Serializable {
  /** Tells them from others, and from none, which is zero. */
  long checksum() {
    CRC32C sum = new CRC32C();
    for (byte[] head : heads) {
      sum.update(head);
    }
    return 1L << 32 | sum.getValue();
  }
}

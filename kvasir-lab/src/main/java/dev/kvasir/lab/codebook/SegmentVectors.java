package dev.kvasir.lab.codebook;

import java.io.Serializable;
import java.util.zip.CRC32C;

/**
 * Vectors of the sampled tokens of a segment.
 *
 * @param heads in the order of {@link VectorSample}: (tokens, headDim) fp16 each, little-endian
 */
record SegmentVectors(byte[][] heads) implements Serializable {
  /** Returns a checksum that is never zero, the mark of a missing segment. */
  long checksum() {
    CRC32C sum = new CRC32C();
    for (byte[] head : heads) {
      sum.update(head);
    }
    return 1L << 32 | sum.getValue();
  }
}

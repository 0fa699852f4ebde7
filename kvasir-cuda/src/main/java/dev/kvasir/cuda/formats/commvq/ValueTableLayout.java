package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.DenseMatrix;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * The layout of a layer's value rows as device attention reads them. A bin sums the weights of
 * tokens, and has one row.
 *
 * <pre>
 * 128 bytes   the header
 * (kvHeads)   times (bins / 16 + 1) times (headDim / 16) chunks, as values of 16 tokens in an fp16 page
 * </pre>
 *
 * The row after the last bin is the mean.
 *
 * @param bins a multiple of 16
 * @param header u32 numbers
 */
record ValueTableLayout(int headDim, int bins, List<Integer> header) {
  private static final int HEADER_BYTES = 128;
  private static final int TILE = Fp16Page.TILE_TOKENS;

  int tileBytes() {
    return headDim / 16 * Fp16Page.CHUNK_BYTES;
  }

  /** Returns the bytes of one head's rows and mean. */
  int headBytes() {
    return (bins / TILE + 1) * tileBytes();
  }

  long layerBytes(int kvHeads) {
    return headAt(kvHeads);
  }

  /** Returns the offset of a head's rows. */
  long headAt(int head) {
    return HEADER_BYTES + (long) head * headBytes();
  }

  /** Returns the byte offset of an element in a head's rows. */
  int at(int bin, int channel) {
    int column = bin % TILE;
    int row = channel % (headDim / 2);
    int lane = 4 * (row % 8) + column % 8 / 2;
    int word = channel / (headDim / 2) + 2 * (column / 8);
    return bin / TILE * tileBytes()
        + row / 8 * Fp16Page.CHUNK_BYTES
        + 16 * lane
        + Integer.BYTES * word
        + Short.BYTES * (bin % 2);
  }

  void putHeader(MemorySegment to) {
    for (int i = 0; i < header.size(); i++) {
      to.setAtIndex(JAVA_INT_UNALIGNED, i, header.get(i));
    }
  }

  /**
   * Writes the rows of a head to zeroed memory.
   *
   * @param rows halves // (rows, headDim)
   * @param bin returns the bin of a row
   */
  void putRows(DenseMatrix rows, IntUnaryOperator bin, MemorySegment to) {
    for (int row = 0; row < rows.rows(); row++) {
      long from = (long) row * headDim * Short.BYTES;
      int place = bin.applyAsInt(row);
      for (int channel = 0; channel < headDim; channel++) {
        short half = rows.data().get(JAVA_SHORT_UNALIGNED, from + (long) Short.BYTES * channel);
        to.set(JAVA_SHORT_UNALIGNED, at(place, channel), half);
      }
    }
  }

  void putMean(float[] mean, MemorySegment to) {
    for (int channel = 0; channel < headDim; channel++) {
      to.set(JAVA_SHORT_UNALIGNED, at(bins, channel), Float.floatToFloat16(mean[channel]));
    }
  }
}

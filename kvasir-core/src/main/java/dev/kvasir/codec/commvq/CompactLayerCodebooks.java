package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RopeTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A layer's codebooks in the compact formats that attention reads, shared by all sequences of a
 * model.
 *
 * @param keys by KV head
 * @param values by KV head: the rows of all sets as halves // (2 * stages * 64, valueDim)
 * @param valueMeans by KV head // (valueDim)
 */
public record CompactLayerCodebooks(
    List<Int8Codebooks> keys, List<DenseMatrix> values, List<float[]> valueMeans, RopeTable table) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static CompactLayerCodebooks of(
      List<Int8KeyCodebook> keys,
      LayerCodebooks codebooks,
      RopeTable table,
      SegmentAllocator memory) {
    return new CompactLayerCodebooks(
        keys.stream().map(Int8KeyCodebook::codebooks).toList(),
        codebooks.values().stream().map(book -> halves(book, memory)).toList(),
        codebooks.values().stream().map(ValueCodebook::mean).toList(),
        table);
  }

  private static DenseMatrix halves(ValueCodebook codebook, SegmentAllocator memory) {
    float[] rows = codebook.stages().rows();
    MemorySegment data = memory.allocate((long) Short.BYTES * rows.length);
    for (int i = 0; i < rows.length; i++) {
      data.set(SHORT, (long) Short.BYTES * i, Float.floatToFloat16(rows[i]));
    }
    int headDim = codebook.headDim();
    return new DenseMatrix(Precision.F16, rows.length / headDim, headDim, data);
  }

  int keySets() {
    return keys.getFirst().sets();
  }

  int valueSets() {
    return values.getFirst().rows() / Int8Codebooks.CODEWORDS;
  }

  long bytes() {
    return keys.stream().mapToLong(Int8Codebooks::bytes).sum()
        + values.stream().mapToLong(DenseMatrix::bytes).sum()
        + valueMeans.stream().mapToLong(mean -> (long) Float.BYTES * mean.length).sum();
  }
}

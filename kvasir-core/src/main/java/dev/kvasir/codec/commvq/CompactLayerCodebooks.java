package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RopeTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/**
 * A layer's codebooks in the compact formats that attention reads, shared by all sequences of a
 * model.
 *
 * @param keys by KV head
 * @param values by KV head: its part of the rows of all sets of its group as halves // (2 * stages
 *     * 64, valueDim)
 * @param valueMeans by KV head; empty if values have none // (valueDim)
 * @param hasValueBits whether a code of values is a bit that adds one row if it is set
 */
public record CompactLayerCodebooks(
    List<Int8Codebooks> keys,
    List<DenseMatrix> values,
    List<float[]> valueMeans,
    boolean hasValueBits,
    RopeTable table) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static CompactLayerCodebooks of(
      List<Int8KeyCodebook> keys,
      LayerCodebooks codebooks,
      RopeTable table,
      SegmentAllocator memory) {
    return new CompactLayerCodebooks(
        keys.stream().map(Int8KeyCodebook::codebooks).toList(),
        ofHeads(codebooks.values(), (book, head) -> halves(book, head, memory)),
        ofHeads(codebooks.values(), CompactLayerCodebooks::mean),
        false,
        table);
  }

  /** Returns codebooks whose rows of values belong to a network. */
  static CompactLayerCodebooks ofEncoder(
      List<Int8KeyCodebook> keys, ValueEncoder encoder, RopeTable table) {
    return new CompactLayerCodebooks(
        keys.stream().map(Int8KeyCodebook::codebooks).toList(),
        encoder.rows(),
        List.of(),
        true,
        table);
  }

  private static <T> List<T> ofHeads(
      List<ValueCodebook> groups, BiFunction<ValueCodebook, Integer, T> part) {
    return groups.stream()
        .flatMap(book -> IntStream.range(0, book.heads()).mapToObj(head -> part.apply(book, head)))
        .toList();
  }

  private static float[] mean(ValueCodebook codebook, int head) {
    int valueDim = codebook.valueDim();
    return Arrays.copyOfRange(codebook.mean(), head * valueDim, (head + 1) * valueDim);
  }

  private static DenseMatrix halves(ValueCodebook codebook, int head, SegmentAllocator memory) {
    float[] rows = codebook.rowsOfHead(head);
    MemorySegment data = memory.allocate((long) Short.BYTES * rows.length);
    for (int i = 0; i < rows.length; i++) {
      data.set(SHORT, (long) Short.BYTES * i, Float.floatToFloat16(rows[i]));
    }
    int valueDim = codebook.valueDim();
    return new DenseMatrix(Precision.F16, rows.length / valueDim, valueDim, data);
  }

  int keySets() {
    return keys.getFirst().sets();
  }

  int valueSets() {
    return hasValueBits ? valueRows() : valueRows() / Int8Codebooks.CODEWORDS;
  }

  /** Returns the rows of all sets of values. */
  int valueRows() {
    return values.getFirst().rows();
  }

  /** Returns the bytes without those that belong to a network. */
  long bytes() {
    return keys.stream().mapToLong(Int8Codebooks::bytes).sum()
        + (hasValueBits ? 0 : values.stream().mapToLong(DenseMatrix::bytes).sum())
        + valueMeans.stream().mapToLong(mean -> (long) Float.BYTES * mean.length).sum();
  }
}

package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * The codebooks of a model, for encoding and for attention. Created once and shared by all
 * sequences.
 *
 * @param layers for encoding
 * @param rows for attention
 */
public record ModelCodebooks(
    List<LayerCodebooks> layers,
    List<CompactLayerCodebooks> rows,
    Rotation rotation,
    PairOrder order) {
  /**
   * Creates the codebooks for encoding and attention from trained ones.
   *
   * @param trained one for each layer
   * @param memory for the codebooks that attention reads in place
   */
  public static ModelCodebooks of(
      List<LayerCodebooks> trained, Rotation rotation, SegmentAllocator memory) {
    int keyDim = trained.getFirst().keyDim();
    RopeTable table = rotation.table(keyDim);
    List<LayerCodebooks> layers = new ArrayList<>();
    List<CompactLayerCodebooks> rows = new ArrayList<>();
    for (LayerCodebooks layer : trained) {
      List<Int8KeyCodebook> keys =
          layer.keys().stream().map(book -> Int8KeyCodebook.of(book, table)).toList();
      layers.add(
          new LayerCodebooks(
              keys.stream().map(Int8KeyCodebook::codebook).toList(), layer.values()));
      rows.add(CompactLayerCodebooks.of(keys, layer, table, memory));
    }
    return new ModelCodebooks(layers, rows, rotation, PairOrder.of(rotation, keyDim));
  }

  /** Returns {@link #bytes} in advance for a model with pages of the given shape. */
  static long bytesFor(int layers, CommvqShape shape, Rotation rotation) {
    long searched =
        searchedBytes(shape.keyStages(), shape.keyDim())
            + searchedBytes(shape.valueStages(), shape.valueDim());
    long pairs = rotation.table(shape.keyDim()).pairs();
    long keysRead = rows(shape.keyStages()) * 2 * pairs + Float.BYTES * 3 * pairs;
    long valueDim = shape.valueDim();
    long valuesRead = rows(shape.valueStages()) * valueDim * Short.BYTES + Float.BYTES * valueDim;
    return (long) layers * shape.kvHeads() * (searched + keysRead + valuesRead);
  }

  private static long searchedBytes(int stages, int channels) {
    long squares = (long) stages * AdditiveStages.ROWS * AdditiveStages.ROWS;
    return Float.BYTES * (rows(stages) * channels + squares + channels);
  }

  private static long rows(int stages) {
    return 2L * stages * AdditiveStages.ROWS;
  }

  public long bytes() {
    return layers.stream().mapToLong(LayerCodebooks::bytes).sum()
        + rows.stream().mapToLong(CompactLayerCodebooks::bytes).sum();
  }
}

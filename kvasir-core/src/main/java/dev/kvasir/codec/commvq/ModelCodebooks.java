package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * The codebooks of a model, as codes are searched for and as attention reads them: made once,
 * shared by all its sequences.
 *
 * @param layers to search
 * @param rows to read
 */
public record ModelCodebooks(
    List<LayerCodebooks> layers,
    List<CompactLayerCodebooks> rows,
    Rotation rotation,
    PairOrder order) {
  /**
   * @param trained one for each layer
   * @param memory of what attention reads where it lies
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

  /** What {@link #bytes} will be for a model with such pages, before anything is made. */
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

  /** Bytes of what is searched and of what is read. */
  public long bytes() {
    return layers.stream().mapToLong(LayerCodebooks::bytes).sum()
        + rows.stream().mapToLong(CompactLayerCodebooks::bytes).sum();
  }
}

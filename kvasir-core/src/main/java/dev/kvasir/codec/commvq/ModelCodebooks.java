package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
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
    List<LayerCodebooks> layers, List<LayerRows> rows, Rotation rotation, PairOrder order) {
  /**
   * @param trained one for each layer
   * @param memory of what attention reads where it lies
   */
  public static ModelCodebooks of(
      List<LayerCodebooks> trained, Rotation rotation, SegmentAllocator memory) {
    int headDim = trained.getFirst().headDim();
    TurnTable table = rotation.table(headDim);
    List<LayerCodebooks> layers = new ArrayList<>();
    List<LayerRows> rows = new ArrayList<>();
    for (LayerCodebooks layer : trained) {
      List<KeyRows> keys = layer.keys().stream().map(book -> KeyRows.of(book, table)).toList();
      layers.add(new LayerCodebooks(keys.stream().map(KeyRows::codebook).toList(), layer.values()));
      rows.add(LayerRows.of(keys, layer, table, memory));
    }
    return new ModelCodebooks(layers, rows, rotation, PairOrder.of(rotation, headDim));
  }

  /** What {@link #bytes} will be for a model of that shape, before anything is made. */
  static long bytesFor(CacheShape shape, int stages, Rotation rotation) {
    long headDim = shape.headDim();
    long rows = 2L * stages * AdditiveStages.ROWS;
    long squares = (long) stages * AdditiveStages.ROWS * AdditiveStages.ROWS;
    long pairs = rotation.table(shape.headDim()).pairs();
    long searched = 2 * Float.BYTES * (rows * headDim + squares + headDim);
    long keysRead = rows * 2 * pairs + Float.BYTES * 3 * pairs;
    long valuesRead = rows * headDim * Short.BYTES + Float.BYTES * headDim;
    return (long) shape.layers() * shape.kvHeads() * (searched + keysRead + valuesRead);
  }

  /** Bytes of what is searched and of what is read. */
  public long bytes() {
    return layers.stream().mapToLong(LayerCodebooks::bytes).sum()
        + rows.stream().mapToLong(LayerRows::bytes).sum();
  }
}

package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.page.SetCodes;
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
    long pairs = rotation.table(shape.keyDim()).pairs();
    long keyRows = rows(shape.keys());
    long keys =
        searchedBytes(shape.keys(), shape.keyDim()) + keyRows * 2 * pairs + Float.BYTES * 3 * pairs;
    long channels = shape.groupDim();
    long values =
        searchedBytes(shape.values(), channels)
            + rows(shape.values()) * channels * Short.BYTES
            + Float.BYTES * channels;
    return layers * (shape.kvHeads() * keys + shape.groups() * values);
  }

  private static long searchedBytes(SetCodes codes, long channels) {
    long squares = codes.sets() / 2L * AdditiveStages.ROWS * AdditiveStages.ROWS;
    return Float.BYTES * (rows(codes) * channels + squares + channels);
  }

  private static long rows(SetCodes codes) {
    return (long) codes.sets() * AdditiveStages.ROWS;
  }

  public long bytes() {
    return layers.stream().mapToLong(LayerCodebooks::bytes).sum()
        + rows.stream().mapToLong(CompactLayerCodebooks::bytes).sum();
  }
}

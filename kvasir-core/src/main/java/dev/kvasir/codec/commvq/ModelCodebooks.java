package dev.kvasir.codec.commvq;

import dev.kvasir.codec.LayerRotations;
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
 * @param encoders networks that encode values, by layer; empty if codes are searched for
 * @param rotations of keys
 * @param keyDim channels of a key
 */
public record ModelCodebooks(
    List<LayerCodebooks> layers,
    List<CompactLayerCodebooks> rows,
    List<ValueEncoder> encoders,
    LayerRotations rotations,
    int keyDim) {
  /**
   * Creates the codebooks for encoding and attention from trained ones.
   *
   * @param trained one for each layer
   * @param memory for the codebooks that attention reads in place
   */
  public static ModelCodebooks of(
      List<LayerCodebooks> trained, LayerRotations rotations, SegmentAllocator memory) {
    int keyDim = trained.getFirst().keyDim();
    List<LayerCodebooks> layers = new ArrayList<>();
    List<CompactLayerCodebooks> rows = new ArrayList<>();
    for (LayerCodebooks layer : trained) {
      RopeTable table = rotations.of(layers.size()).table(keyDim);
      List<Int8KeyCodebook> keys =
          layer.keys().stream().map(book -> Int8KeyCodebook.of(book, table)).toList();
      layers.add(
          new LayerCodebooks(
              keys.stream().map(Int8KeyCodebook::codebook).toList(), layer.values()));
      rows.add(CompactLayerCodebooks.of(keys, layer, table, memory));
    }
    return new ModelCodebooks(layers, rows, List.of(), rotations, keyDim);
  }

  /**
   * Creates the codebooks of keys, with values that networks encode.
   *
   * @param trained codebooks of all KV heads, by layer
   * @param encoders one for each layer
   */
  static ModelCodebooks ofEncoders(
      List<List<KeyCodebook>> trained, List<ValueEncoder> encoders, LayerRotations rotations) {
    int keyDim = trained.getFirst().getFirst().length();
    List<LayerCodebooks> layers = new ArrayList<>();
    List<CompactLayerCodebooks> rows = new ArrayList<>();
    for (int layer = 0; layer < trained.size(); layer++) {
      RopeTable table = rotations.of(layer).table(keyDim);
      List<Int8KeyCodebook> keys =
          trained.get(layer).stream().map(book -> Int8KeyCodebook.of(book, table)).toList();
      layers.add(
          new LayerCodebooks(keys.stream().map(Int8KeyCodebook::codebook).toList(), List.of()));
      rows.add(CompactLayerCodebooks.ofEncoder(keys, encoders.get(layer), table));
    }
    return new ModelCodebooks(layers, rows, List.copyOf(encoders), rotations, keyDim);
  }

  /** Returns {@link #bytes} in advance for a model with pages of the given shape. */
  static long bytesFor(int layers, CommvqShape shape, LayerRotations rotations) {
    long channels = shape.groupDim();
    long values =
        searchedBytes(shape.values(), channels)
            + rows(shape.values()) * channels * Short.BYTES
            + Float.BYTES * channels;
    return layers * (shape.kvHeads() * keyBytesFor(shape, rotations) + shape.groups() * values);
  }

  /** Returns the bytes of a head's keys. */
  static long keyBytesFor(CommvqShape shape, LayerRotations rotations) {
    long pairs = rotations.of(0).table(shape.keyDim()).pairs();
    return searchedBytes(shape.keys(), shape.keyDim())
        + rows(shape.keys()) * 2 * pairs
        + Float.BYTES * 3 * pairs;
  }

  /** Returns the rotation of keys in all layers; fails if layers differ. */
  public Rotation rotation() {
    return rotations.shared().orElseThrow();
  }

  /** Returns the order of a layer's key channels. */
  PairOrder order(int layer) {
    return PairOrder.of(rotations.of(layer), keyDim);
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
        + rows.stream().mapToLong(CompactLayerCodebooks::bytes).sum()
        + encoders.stream().mapToLong(ValueEncoder::bytes).sum();
  }
}

package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
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
   */
  public static ModelCodebooks of(List<LayerCodebooks> trained, Rotation rotation) {
    int headDim = trained.getFirst().headDim();
    TurnTable table = rotation.table(headDim);
    List<LayerCodebooks> layers = new ArrayList<>();
    List<LayerRows> rows = new ArrayList<>();
    for (LayerCodebooks layer : trained) {
      List<KeyRows> keys = layer.keys().stream().map(book -> KeyRows.of(book, table)).toList();
      layers.add(new LayerCodebooks(keys.stream().map(KeyRows::codebook).toList(), layer.values()));
      rows.add(LayerRows.of(keys, layer, table));
    }
    return new ModelCodebooks(layers, rows, rotation, PairOrder.of(rotation, headDim));
  }

  /** Bytes of what is searched and of what is read. */
  public long bytes() {
    return layers.stream().mapToLong(LayerCodebooks::bytes).sum()
        + rows.stream().mapToLong(LayerRows::bytes).sum();
  }
}

package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
import java.util.List;

/**
 * The codebooks of a model, as they were trained and as attention reads them: made once, shared by
 * all its sequences.
 *
 * @param layers as trained
 * @param rows as read
 */
public record ModelCodebooks(
    List<LayerCodebooks> layers, List<LayerRows> rows, Rotation rotation, PairOrder order) {
  public static ModelCodebooks of(List<LayerCodebooks> layers, Rotation rotation) {
    int headDim = layers.getFirst().headDim();
    TurnTable table = rotation.table(headDim);
    return new ModelCodebooks(
        List.copyOf(layers),
        layers.stream().map(layer -> LayerRows.of(layer, table)).toList(),
        rotation,
        PairOrder.of(rotation, headDim));
  }

  /** Bytes that attention reads of them. */
  public long bytes() {
    return rows.stream().mapToLong(LayerRows::bytes).sum();
  }
}

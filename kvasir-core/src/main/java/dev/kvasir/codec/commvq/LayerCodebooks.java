package dev.kvasir.codec.commvq;

import java.util.List;
import java.util.stream.Stream;

/**
 * The codebooks of one layer. Those of keys agree in stages and channels, and so do those of
 * values.
 *
 * @param keys one for each KV head
 * @param values one for each KV head
 */
public record LayerCodebooks(List<KeyCodebook> keys, List<ValueCodebook> values) {
  public LayerCodebooks {
    keys = List.copyOf(keys);
    values = List.copyOf(values);
  }

  public int kvHeads() {
    return keys.size();
  }

  public int keyDim() {
    return keys.getFirst().headDim();
  }

  long bytes() {
    return Stream.concat(keys.stream(), values.stream()).mapToLong(Codebook::bytes).sum();
  }

  /** Returns the stages of keys, and of values. */
  public int stages() {
    return keys.getFirst().stages().stages();
  }
}

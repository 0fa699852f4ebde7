package dev.kvasir.codec.commvq;

import java.util.List;
import java.util.stream.Stream;

/**
 * The codebooks of one layer: those of keys have as many stages and channels each, and so have
 * those of values.
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

  /** Of keys, and of values. */
  public int stages() {
    return keys.getFirst().stages().stages();
  }
}

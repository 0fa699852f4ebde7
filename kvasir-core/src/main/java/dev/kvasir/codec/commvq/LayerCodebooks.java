package dev.kvasir.codec.commvq;

import dev.kvasir.page.StageCodes;
import java.util.List;
import java.util.stream.Stream;

/**
 * The codebooks of one layer. Those of keys agree in stages, rows and channels, and so do those of
 * values.
 *
 * @param keys one for each KV head
 * @param values one for each group of adjacent KV heads
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
    return keys.getFirst().length();
  }

  /** Returns the KV heads whose values share codes. */
  public int valueHeads() {
    return values.getFirst().heads();
  }

  /** Returns the grouping of values. */
  public HeadGroups valueGroups() {
    ValueCodebook any = values.getFirst();
    return new HeadGroups(any.heads(), values.size(), any.valueDim());
  }

  /** Returns the layout of a page with these codebooks. */
  public CommvqShape shape() {
    AdditiveStages ofKeys = keys.getFirst().stages();
    AdditiveStages ofValues = values.getFirst().stages();
    return new CommvqShape(
        kvHeads(),
        keyDim(),
        new StageCodes(ofKeys.stages(), ofKeys.indexBits()),
        values.getFirst().valueDim(),
        valueHeads(),
        new StageCodes(ofValues.stages(), ofValues.indexBits()));
  }

  long bytes() {
    return Stream.concat(keys.stream(), values.stream()).mapToLong(Codebook::bytes).sum();
  }

  /** Returns the stages of keys. */
  public int keyStages() {
    return keys.getFirst().stages().stages();
  }
}

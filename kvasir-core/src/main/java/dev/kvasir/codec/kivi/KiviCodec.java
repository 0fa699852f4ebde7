package dev.kvasir.codec.kivi;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;

/**
 * KIVI: keys are quantized channel by channel, because a few channels carry most of their range,
 * and values token by token. Nothing is learned and nothing is kept between pages.
 */
public final class KiviCodec implements StatelessCodec {
  private final int kvHeads;
  private final List<HeadShape> heads; // by layer, or one for all
  private final OperandPrecision operandPrecision;
  private final boolean storesValues;

  public KiviCodec(int kvHeads, HeadShape head, OperandPrecision operandPrecision) {
    this(kvHeads, List.of(head), operandPrecision);
  }

  /**
   * @param heads of each layer, which may differ in their widths
   */
  public KiviCodec(int kvHeads, List<HeadShape> heads, OperandPrecision operandPrecision) {
    this.kvHeads = kvHeads;
    this.heads = List.copyOf(heads);
    this.operandPrecision = operandPrecision;
    this.storesValues = heads.stream().noneMatch(HeadShape::hasValuesInKeys);
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return UniformPage.quantize(
        memory, Collections.nCopies(kvHeads, head(layer)), operandPrecision, null, keys, values);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return UniformPage.deserialize(
        memory, snapshot, kvHeads, found -> head(layer), operandPrecision);
  }

  private HeadShape head(int layer) {
    return heads.get(heads.size() == 1 ? 0 : layer);
  }

  /** Values that are part of keys are expanded, which must serve many rows. */
  @Override
  public boolean prefersQuantizedPrefill() {
    return storesValues;
  }

  @Override
  public int maxQueryRows() {
    return UniformReader.MAX_PREFILL_ROWS;
  }

  /** Of the first layer. */
  @Override
  public long pageBytes() {
    return (long) kvHeads * heads.getFirst().bytes();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * heads.getFirst().codeBytes();
  }

  @Override
  public long pageBytes(int layer) {
    return (long) kvHeads * head(layer).bytes();
  }

  @Override
  public long codeBytes(int layer) {
    return (long) kvHeads * head(layer).codeBytes();
  }
}

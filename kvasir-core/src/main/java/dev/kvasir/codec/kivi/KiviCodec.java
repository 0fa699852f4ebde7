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
 * KIVI: per-channel quantization of keys, because a few channels have most of their range, and
 * per-token quantization of values. Stateless and without calibration.
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
   * Creates a codec whose layers may have different bit widths.
   *
   * @param heads the head layout of each layer
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

  /** Returns the layout of a head in a layer. */
  public HeadShape head(int layer) {
    return heads.get(heads.size() == 1 ? 0 : layer);
  }

  /** Values that are part of keys must be dequantized, which pays off only for many rows. */
  @Override
  public boolean prefersQuantizedPrefill() {
    return storesValues;
  }

  @Override
  public int maxQueryRows() {
    return UniformReader.MAX_PREFILL_ROWS;
  }

  /** Returns the bytes of the first layer's page. */
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

package dev.kvasir.codec.basis;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;

/** Quantizes vectors after a change of basis. Stateless. */
public final class BasisCodec implements StatelessCodec {
  private final int kvHeads;
  private final HeadShape head;
  private final OperandPrecision operandPrecision;
  private final List<LayerBasis> layers; // one per layer, or one for all
  private final int group;

  /**
   * Creates a codec.
   *
   * @param layers the basis of each layer, or one for all
   * @param group channels of a token that share a scale
   */
  public BasisCodec(
      int kvHeads,
      HeadShape head,
      OperandPrecision operandPrecision,
      List<LayerBasis> layers,
      int group) {
    this.kvHeads = kvHeads;
    this.head = head;
    this.operandPrecision = operandPrecision;
    this.layers = List.copyOf(layers);
    this.group = group;
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keyRows, float[] rows) {
    LayerBasis basis = basis(layer);
    transform(basis.keys(), basis.keyClipping(), keyRows, head.keyDim());
    transform(basis.values(), basis.valueClipping(), rows, head.valueDim());
    UniformPage codes =
        UniformPage.quantize(
            memory, Collections.nCopies(kvHeads, head), operandPrecision, null, keyRows, rows);
    return new BasisPage(codes, basis.keys(), basis.values());
  }

  private void transform(HeadBasis basis, Clipping clipping, float[] x, int channels) {
    for (int kvHead = 0; kvHead < kvHeads; kvHead++) {
      int at = kvHead * Page.TOKENS * channels;
      basis.transform(kvHead, x, at, Page.TOKENS);
      clipping.clip(x, at, Page.TOKENS, channels, group);
    }
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    LayerBasis basis = basis(layer);
    return BasisPage.read(
        memory, snapshot, kvHeads, head, operandPrecision, basis.keys(), basis.values());
  }

  private LayerBasis basis(int layer) {
    return layers.get(layers.size() == 1 ? 0 : layer);
  }

  @Override
  public long sharedBytes() {
    return layers.stream().mapToLong(basis -> basis.keys().bytes() + basis.values().bytes()).sum();
  }

  @Override
  public long pageBytes() {
    return (long) kvHeads * head.bytes();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * head.codeBytes();
  }
}

package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.basis.AuxiliaryNumbers;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Codec of RotateKV. A channel order belongs to a page or to the model, so it is stateless. */
final class RotatekvCodec implements StatelessCodec {
  private final KeyGroups groups;
  private final Optional<int[][]> modelOrders; // by layer
  private final HeadShape head;
  private final OperandPrecision operandPrecision;
  private final int group;
  private final Clipping clipping;
  private final Hadamard keys;
  private final Hadamard values;

  /**
   * @param modelOrders the channel order of each layer, if the model has any
   * @param group channels of a token that share a range
   */
  RotatekvCodec(
      KeyGroups groups,
      Optional<int[][]> modelOrders,
      HeadShape head,
      OperandPrecision operandPrecision,
      int group,
      Clipping clipping) {
    this.groups = groups;
    this.modelOrders = modelOrders;
    this.head = head;
    this.operandPrecision = operandPrecision;
    this.group = group;
    this.clipping = clipping;
    this.keys = Hadamard.plain(groups.width());
    this.values = Hadamard.plain(head.valueDim());
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keyRows, float[] rows) {
    int vectors = groups.kvHeads() * Page.TOKENS;
    short[] order = groups.rotateAndReorder(keyRows, position, keys, modelOrder(layer));
    values.transform(0, rows, 0, vectors);
    clipping.clip(keyRows, 0, vectors, head.keyDim(), group);
    clipping.clip(rows, 0, vectors, head.valueDim(), group);
    UniformPage codes =
        UniformPage.quantize(memory, shapes(), operandPrecision, null, keyRows, rows);
    try {
      return new RotatekvPage(this, layer, codes, new AuxiliaryNumbers(memory, order), position);
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return RotatekvPage.read(memory, snapshot, this, layer);
  }

  private List<HeadShape> shapes() {
    return Collections.nCopies(groups.kvHeads(), head);
  }

  /** Returns the model's channel order in a layer; null if it has none. */
  int[] modelOrder(int layer) {
    return modelOrders.map(orders -> orders[layer]).orElse(null);
  }

  /** Returns which channel order pages have: 0 for none, 1 for their own, 2 for the model's. */
  int orderKind() {
    return modelOrders.isPresent() ? 2 : groups.reordersChannels() ? 1 : 0;
  }

  KeyGroups groups() {
    return groups;
  }

  HeadShape head() {
    return head;
  }

  OperandPrecision operandPrecision() {
    return operandPrecision;
  }

  /** Returns the transform of a group of heads. */
  Hadamard keyBasis() {
    return keys;
  }

  Hadamard valueBasis() {
    return values;
  }

  @Override
  public long pageBytes() {
    return (long) groups.kvHeads() * head.bytes() + (long) Short.BYTES * groups.orderLength();
  }

  @Override
  public long codeBytes() {
    return (long) groups.kvHeads() * head.codeBytes();
  }
}

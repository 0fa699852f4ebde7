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

/** Codec of RotateKV. Every page has its own channel order, so the codec is stateless. */
final class RotatekvCodec implements StatelessCodec {
  private final KeyGroups groups;
  private final HeadShape head;
  private final OperandPrecision operandPrecision;
  private final int group;
  private final Clipping clipping;
  private final Hadamard keys;
  private final Hadamard values;

  /**
   * @param group channels of a token that share a range
   */
  RotatekvCodec(
      KeyGroups groups,
      HeadShape head,
      OperandPrecision operandPrecision,
      int group,
      Clipping clipping) {
    this.groups = groups;
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
    short[] order = groups.rotateAndReorder(keyRows, position, keys);
    values.transform(0, rows, 0, vectors);
    clipping.clip(keyRows, 0, vectors, head.keyDim(), group);
    clipping.clip(rows, 0, vectors, head.valueDim(), group);
    UniformPage codes =
        UniformPage.quantize(memory, shapes(), operandPrecision, null, keyRows, rows);
    try {
      return new RotatekvPage(this, codes, new AuxiliaryNumbers(memory, order), position);
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return RotatekvPage.read(memory, snapshot, this);
  }

  private List<HeadShape> shapes() {
    return Collections.nCopies(groups.kvHeads(), head);
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

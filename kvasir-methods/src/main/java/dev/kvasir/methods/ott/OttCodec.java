package dev.kvasir.methods.ott;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;

/**
 * Codec of OTT. Tokens with unusually small keys stretch the range of channels that are large
 * everywhere else. They stay unquantized, and the codes are computed without them.
 */
final class OttCodec implements StatelessCodec {
  private final OutlierTokenLayout outlierLayout;
  private final List<HeadShape> heads;
  private final OperandPrecision operandPrecision;

  OttCodec(OutlierTokenLayout outlierLayout, HeadShape head, OperandPrecision operandPrecision) {
    this.outlierLayout = outlierLayout;
    this.heads = Collections.nCopies(outlierLayout.kvHeads(), head);
    this.operandPrecision = operandPrecision;
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    OutlierTokens outliers = OutlierTokens.of(memory, outlierLayout, keys, values);
    return new OttPage(
        memory,
        UniformPage.quantize(memory, heads, operandPrecision, null, keys, values),
        outliers);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return OttPage.read(memory, snapshot, this);
  }

  OutlierTokenLayout outlierLayout() {
    return outlierLayout;
  }

  HeadShape head() {
    return heads.getFirst();
  }

  OperandPrecision operandPrecision() {
    return operandPrecision;
  }

  @Override
  public long pageBytes() {
    return (long) outlierLayout.kvHeads() * head().bytes() + outlierLayout.bytes();
  }

  @Override
  public long codeBytes() {
    return (long) outlierLayout.kvHeads() * head().codeBytes();
  }
}

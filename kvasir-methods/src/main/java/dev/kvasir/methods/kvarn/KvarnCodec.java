package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.basis.AuxiliaryNumbers;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;

/**
 * Codec of KVarN. The channel factor of a key is folded into its scale and zero point, so only the
 * token factor is stored; for values it is the other way round.
 */
final class KvarnCodec implements StatelessCodec {
  private static final int TOKENS = Page.TOKENS;

  private final int kvHeads;
  private final HeadShape head;
  private final OperandPrecision operandPrecision;
  private final VarianceNormalizer normalizer;
  private final Hadamard keys;
  private final Hadamard values;

  KvarnCodec(
      int kvHeads,
      HeadShape head,
      OperandPrecision operandPrecision,
      VarianceNormalizer normalizer) {
    this.kvHeads = kvHeads;
    this.head = head;
    this.operandPrecision = operandPrecision;
    this.normalizer = normalizer;
    this.keys = Hadamard.plain(head.keyDim());
    this.values = Hadamard.plain(head.valueDim());
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keyRows, float[] rows) {
    keys.transform(0, keyRows, 0, kvHeads * TOKENS);
    values.transform(0, rows, 0, kvHeads * TOKENS);
    short[] factors = new short[factorCount()];
    for (int kvHead = 0; kvHead < kvHeads; kvHead++) {
      divideByToken(keyRows, kvHead, factors);
      divideByChannel(rows, kvHead, factors);
    }
    UniformPage codes =
        UniformPage.quantize(
            memory, Collections.nCopies(kvHeads, head), operandPrecision, null, keyRows, rows);
    try {
      return new KvarnPage(this, codes, new AuxiliaryNumbers(memory, factors));
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  private void divideByToken(float[] x, int kvHead, short[] factors) {
    int channels = head.keyDim();
    int at = kvHead * TOKENS * channels;
    double[] tokens = normalizer.of(x, at, channels).tokens();
    for (int i = 0; i < TOKENS * channels; i++) {
      x[at + i] = (float) (x[at + i] / tokens[i / channels]);
    }
    put(tokens, factors, keyFactorsAt(kvHead));
  }

  private void divideByChannel(float[] x, int kvHead, short[] factors) {
    int channels = head.valueDim();
    int at = kvHead * TOKENS * channels;
    double[] byChannel = normalizer.of(x, at, channels).channels();
    for (int i = 0; i < TOKENS * channels; i++) {
      x[at + i] = (float) (x[at + i] / byChannel[i % channels]);
    }
    put(byChannel, factors, valueFactorsAt(kvHead));
  }

  private static void put(double[] from, short[] factors, int to) {
    for (int i = 0; i < from.length; i++) {
      factors[to + i] = Float.floatToFloat16((float) from[i]);
    }
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return KvarnPage.read(memory, snapshot, this);
  }

  int kvHeads() {
    return kvHeads;
  }

  HeadShape head() {
    return head;
  }

  OperandPrecision operandPrecision() {
    return operandPrecision;
  }

  Hadamard keyBasis() {
    return keys;
  }

  Hadamard valueBasis() {
    return values;
  }

  /** Returns the number of stored factors: key tokens and value channels, head after head. */
  int factorCount() {
    return kvHeads * (TOKENS + head.valueDim());
  }

  /** Returns the index of a head's key factors. // (TOKENS) */
  int keyFactorsAt(int kvHead) {
    return kvHead * (TOKENS + head.valueDim());
  }

  /** Returns the index of a head's value factors. // (valueDim) */
  int valueFactorsAt(int kvHead) {
    return keyFactorsAt(kvHead) + TOKENS;
  }

  @Override
  public long pageBytes() {
    return (long) kvHeads * head.bytes() + (long) Short.BYTES * factorCount();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * head.codeBytes();
  }
}

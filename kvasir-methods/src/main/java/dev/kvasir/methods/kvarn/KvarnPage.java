package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.basis.AuxiliaryNumbers;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.memory.SharedArena;

/**
 * A page of rotated keys divided by token factors, and rotated values divided by channel factors.
 * Serialized:
 *
 * <pre>
 * f16  (KV heads, 128 + valueDim) factors: of a head's tokens, then of its channels
 *      codes, a UniformPageSerializer
 * </pre>
 */
final class KvarnPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 22;

  private final KvarnCodec codec;
  private final UniformPage codes;
  private final AuxiliaryNumbers factors;

  KvarnPage(KvarnCodec codec, UniformPage codes, AuxiliaryNumbers factors) {
    this.codec = codec;
    this.codes = codes;
    this.factors = factors;
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        factors.bytes() + UniformPageSerializer.bytes(codes),
        out -> {
          factors.write(out);
          UniformPageSerializer.write(codes, out);
        });
  }

  /** Reads what {@link #serialize} wrote. */
  static KvarnPage read(SharedArena memory, Snapshot snapshot, KvarnCodec codec) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        KIND,
        in -> {
          AuxiliaryNumbers factors = AuxiliaryNumbers.read(memory, in, codec.factorCount());
          try {
            UniformPage codes =
                UniformPageSerializer.read(
                    memory, in, codec.kvHeads(), found -> codec.head(), codec.operandPrecision());
            return new KvarnPage(codec, codes, factors);
          } catch (RuntimeException | Error e) {
            factors.close();
            throw e;
          }
        });
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(KvarnReader.KIND);
  }

  KvarnCodec codec() {
    return codec;
  }

  UniformPage codes() {
    return codes;
  }

  /** Returns the factor that a token's key was divided by. */
  float tokenFactor(int kvHead, int token) {
    return factors.half(codec.keyFactorsAt(kvHead) + token);
  }

  /** Returns the factor that a value channel was divided by. */
  float channelFactor(int kvHead, int channel) {
    return factors.half(codec.valueFactorsAt(kvHead) + channel);
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeKeys(workspace, kvHead, tokens, out);
    int keyDim = codec.head().keyDim();
    for (int token = 0; token < tokens; token++) {
      workspace.kernels().rows().scale(out, token * keyDim, keyDim, tokenFactor(kvHead, token));
    }
    codec.keyBasis().invert(kvHead, out, 0, tokens);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeValues(workspace, kvHead, tokens, out);
    int valueDim = codec.head().valueDim();
    for (int channel = 0; channel < valueDim; channel++) {
      float factor = channelFactor(kvHead, channel);
      for (int token = 0; token < tokens; token++) {
        out[token * valueDim + channel] *= factor;
      }
    }
    codec.valueBasis().invert(kvHead, out, 0, tokens);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + factors.bytes();
  }

  @Override
  public void close() {
    factors.close();
    codes.close();
  }
}

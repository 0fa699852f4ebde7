package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.basis.SideNumbers;
import dev.kvasir.codec.uniform.UniformForm;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;

/**
 * Rotated keys divided by factors of their tokens, and rotated values divided by factors of their
 * channels. Stored:
 *
 * <pre>
 * f16  (KV heads, 128 + valueDim) factors: of a head's tokens, then of its channels
 *      codes, a UniformForm
 * </pre>
 */
final class KvarnPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 22;

  private final KvarnCodec codec;
  private final UniformPage codes;
  private final SideNumbers factors;

  KvarnPage(KvarnCodec codec, UniformPage codes, SideNumbers factors) {
    this.codec = codec;
    this.codes = codes;
    this.factors = factors;
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        factors.bytes() + UniformForm.bytes(codes),
        out -> {
          factors.write(out);
          UniformForm.write(codes, out);
        });
  }

  /** Reads what {@link #form} wrote. */
  static KvarnPage read(SharedArena memory, Form form, KvarnCodec codec) {
    return Envelope.PAGE.open(
        form,
        KIND,
        in -> {
          SideNumbers factors = SideNumbers.read(memory, in, codec.factorCount());
          try {
            UniformPage codes =
                UniformForm.read(
                    memory, in, codec.kvHeads(), found -> codec.head(), codec.lookups());
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

  /** What a head's key of a token was divided by. */
  float tokenFactor(int kvHead, int token) {
    return factors.half(codec.keyFactors(kvHead) + token);
  }

  /** What a channel of a head's values was divided by. */
  float channelFactor(int kvHead, int channel) {
    return factors.half(codec.valueFactors(kvHead) + channel);
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
    int keyDim = codec.head().keyDim();
    for (int token = 0; token < tokens; token++) {
      room.kernels().rows().scale(out, token * keyDim, keyDim, tokenFactor(kvHead, token));
    }
    codec.keyBasis().restore(kvHead, out, 0, tokens);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandValues(room, kvHead, tokens, out);
    int valueDim = codec.head().valueDim();
    for (int channel = 0; channel < valueDim; channel++) {
      float factor = channelFactor(kvHead, channel);
      for (int token = 0; token < tokens; token++) {
        out[token * valueDim + channel] *= factor;
      }
    }
    codec.valueBasis().restore(kvHead, out, 0, tokens);
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

package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.codec.basis.Smoothing;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The widths that pages of the layers of one sequence are sealed at. Stored:
 *
 * <pre>
 * u16  layers
 * u8   bits of each
 * </pre>
 */
final class PmkvqSequence implements ShrinkingSequence {
  /** The number of its state among stored ones. */
  private static final int KIND = 3;

  private final PmkvqCodec codec;
  private final int[] levels; // by layer

  PmkvqSequence(PmkvqCodec codec, int[] levels) {
    this.codec = codec;
    this.levels = levels;
  }

  static PmkvqSequence resumed(PmkvqCodec codec, byte[] state) {
    return Envelope.STATE.open(state, KIND, in -> new PmkvqSequence(codec, levels(codec, in)));
  }

  private static int[] levels(PmkvqCodec codec, ByteBuffer in) {
    int layers = Short.toUnsignedInt(in.getShort());
    if (layers != codec.layers()) {
      throw Envelope.STATE.refused(
          "has %d layers; this cache has %d".formatted(layers, codec.layers()));
    }
    Envelope.STATE.requireRest(in, layers);
    int[] levels = new int[layers];
    for (int layer = 0; layer < layers; layer++) {
      levels[layer] = codec.requireLevel(Envelope.STATE, layer, in.get());
    }
    return levels;
  }

  @Override
  public byte[] state() {
    return Envelope.STATE.seal(
        KIND,
        Short.BYTES + levels.length,
        out -> {
          out.putShort((short) levels.length);
          for (int level : levels) {
            out.put((byte) HeadWidths.bits(level));
          }
        });
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    Optional<Smoothing> smoothing = codec.smoothing(layer);
    smoothing.ifPresent(factors -> divide(keys, factors));
    int level = levels[layer];
    UniformPage codes =
        codec.birth() == Birth.WIDE && level > 0
            ? shifted(memory, level, keys, values)
            : UniformPage.pack(memory, codec.shapes(level), codec.lookups(), null, keys, values);
    return new PmkvqPage(codes, level, smoothing);
  }

  private UniformPage shifted(SharedArena memory, int level, float[] keys, float[] values) {
    List<HeadShape> shapes = codec.shapes(level);
    try (UniformPage wide = UniformPage.pack(codec.shapes(0), codec.lookups(), keys, values)) {
      return UniformPage.of(
          memory, shapes, codec.lookups(), codec.narrowing().narrow(wide, shapes));
    }
  }

  private static void divide(float[] keys, Smoothing factors) {
    int keyDim = factors.keyDim();
    for (int kvHead = 0; kvHead < factors.factors().length / keyDim; kvHead++) {
      factors.change(kvHead, keys, kvHead * Page.TOKENS * keyDim, Page.TOKENS);
    }
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return PmkvqPage.read(memory, form, codec, layer);
  }

  @Override
  public int level(int layer) {
    return levels[layer];
  }

  @Override
  public void moveTo(int layer, int level) {
    levels[layer] = level;
  }

  @Override
  public int level(Page page) {
    return ((PmkvqPage) page).level();
  }

  @Override
  public Page shrunk(SharedArena memory, Page page, int level) {
    PmkvqPage wide = (PmkvqPage) page;
    List<HeadShape> shapes = codec.shapes(level);
    MemorySegment bytes = codec.narrowing().narrow(wide.codes(), shapes);
    return new PmkvqPage(
        UniformPage.of(memory, shapes, codec.lookups(), bytes), level, wide.smoothing());
  }

  @Override
  public ShrinkingSequence fork() {
    return new PmkvqSequence(codec, levels.clone());
  }
}

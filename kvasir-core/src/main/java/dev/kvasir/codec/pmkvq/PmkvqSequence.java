package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The current level of each layer of a sequence. Serialized:
 *
 * <pre>
 * u16  layers
 * u8   bits of each
 * </pre>
 */
final class PmkvqSequence implements RequantizingSequence {
  /** The snapshot kind of this state. */
  private static final int KIND = 3;

  private final PmkvqCodec codec;
  private final int[] levels; // by layer

  PmkvqSequence(PmkvqCodec codec, int[] levels) {
    this.codec = codec;
    this.levels = levels;
  }

  static PmkvqSequence resumed(PmkvqCodec codec, byte[] state) {
    return SnapshotHeader.STATE.unwrap(
        state, KIND, in -> new PmkvqSequence(codec, levels(codec, in)));
  }

  private static int[] levels(PmkvqCodec codec, ByteBuffer in) {
    int layers = Short.toUnsignedInt(in.getShort());
    if (layers != codec.layers()) {
      throw SnapshotHeader.STATE.invalid(
          "has %d layers; this cache has %d".formatted(layers, codec.layers()));
    }
    SnapshotHeader.STATE.requireRemaining(in, layers);
    int[] levels = new int[layers];
    for (int layer = 0; layer < layers; layer++) {
      levels[layer] = codec.requireLevel(SnapshotHeader.STATE, layer, in.get());
    }
    return levels;
  }

  @Override
  public byte[] serializeState() {
    return SnapshotHeader.STATE.wrap(
        KIND,
        Short.BYTES + levels.length,
        out -> {
          out.putShort((short) levels.length);
          for (int level : levels) {
            out.put((byte) LevelShapes.bits(level));
          }
        });
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    Optional<SmoothingFactors> smoothing = codec.smoothing(layer);
    smoothing.ifPresent(factors -> divide(keys, factors));
    int level = levels[layer];
    UniformPage codes =
        codec.birth() == InitialWidth.WIDE && level > 0
            ? shifted(memory, level, keys, values)
            : UniformPage.quantize(
                memory, codec.shapes(level), codec.operandPrecision(), null, keys, values);
    return new PmkvqPage(codes, level, smoothing);
  }

  private UniformPage shifted(SharedArena memory, int level, float[] keys, float[] values) {
    List<HeadShape> shapes = codec.shapes(level);
    try (UniformPage wide =
        UniformPage.quantize(codec.shapes(0), codec.operandPrecision(), keys, values)) {
      return UniformPage.of(
          memory, shapes, codec.operandPrecision(), codec.requantizer().requantize(wide, shapes));
    }
  }

  private static void divide(float[] keys, SmoothingFactors factors) {
    int keyDim = factors.keyDim();
    for (int kvHead = 0; kvHead < factors.factors().length / keyDim; kvHead++) {
      factors.transform(kvHead, keys, kvHead * Page.TOKENS * keyDim, Page.TOKENS);
    }
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return PmkvqPage.deserialize(memory, snapshot, codec, layer);
  }

  @Override
  public int level(int layer) {
    return levels[layer];
  }

  @Override
  public void setLevel(int layer, int level) {
    levels[layer] = level;
  }

  @Override
  public int level(Page page) {
    return ((PmkvqPage) page).level();
  }

  @Override
  public Page requantize(SharedArena memory, int layer, Page page, int level) {
    PmkvqPage wide = (PmkvqPage) page;
    List<HeadShape> shapes = codec.shapes(level);
    MemorySegment bytes = codec.requantizer().requantize(wide.codes(), shapes);
    return new PmkvqPage(
        UniformPage.of(memory, shapes, codec.operandPrecision(), bytes), level, wide.smoothing());
  }

  @Override
  public RequantizingSequence fork() {
    return new PmkvqSequence(codec, levels.clone());
  }
}

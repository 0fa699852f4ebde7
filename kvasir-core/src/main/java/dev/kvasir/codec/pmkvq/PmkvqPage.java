package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A layer's keys and values at one level. With smoothing, keys are divided by factors before
 * quantization, and queries must be multiplied by them. Serialized:
 *
 * <pre>
 * u8  bits
 * u8  1 if keys were divided by the factors of the model's profile, else 0
 *     codes, by UniformPageSerializer
 * </pre>
 */
public final class PmkvqPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 3;

  private final UniformPage codes;
  private final int level;
  private final Optional<SmoothingFactors> smoothing;

  PmkvqPage(UniformPage codes, int level, Optional<SmoothingFactors> smoothing) {
    this.codes = codes;
    this.level = level;
    this.smoothing = smoothing;
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(KIND, 2 + UniformPageSerializer.bytes(codes), this::write);
  }

  private void write(ByteBuffer out) {
    out.put((byte) bits()).put((byte) (smoothing.isPresent() ? 1 : 0));
    UniformPageSerializer.write(codes, out);
  }

  /** Reads a page written by {@link #serialize}. */
  static PmkvqPage deserialize(SharedArena memory, Snapshot snapshot, PmkvqCodec codec, int layer) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> deserialize(memory, in, codec, layer));
  }

  private static PmkvqPage deserialize(
      SharedArena memory, ByteBuffer in, PmkvqCodec codec, int layer) {
    int bits = in.get();
    int smoothed = in.get();
    Optional<SmoothingFactors> smoothing = codec.smoothing(layer);
    if (smoothed != (smoothing.isPresent() ? 1 : 0)) {
      throw SnapshotHeader.PAGE.invalid(
          "has keys that are %s; those of this cache are %s"
              .formatted(smoothness(smoothed != 0), smoothness(smoothing.isPresent())));
    }
    int level = codec.requireLevel(SnapshotHeader.PAGE, layer, bits);
    List<HeadShape> shapes = codec.shapes(level);
    UniformPage codes =
        UniformPageSerializer.read(
            memory, in, shapes.size(), found -> shapes.getFirst(), codec.operandPrecision());
    return new PmkvqPage(codes, level, smoothing);
  }

  private static String smoothness(boolean smoothed) {
    return smoothed ? "divided by factors" : "as they were";
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(PmkvqReader.KIND);
  }

  /** Returns the codes of values and of divided keys. */
  public UniformPage codes() {
    return codes;
  }

  /** Returns the factors that keys were divided by. */
  public Optional<SmoothingFactors> smoothing() {
    return smoothing;
  }

  int level() {
    return level;
  }

  public int bits() {
    return LevelShapes.bits(level);
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeKeys(workspace, kvHead, tokens, out);
    if (smoothing.isPresent()) {
      smoothing.get().invert(kvHead, out, 0, tokens);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeValues(workspace, kvHead, tokens, out);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codes.scaleBytes();
  }

  @Override
  public void close() {
    codes.close();
  }
}

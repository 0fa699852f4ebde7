package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.basis.Smoothing;
import dev.kvasir.codec.uniform.UniformForm;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A layer's keys and values at one of the levels. Where there are factors, keys are packed divided
 * by them: whoever computes on keys multiplies queries by those. Stored:
 *
 * <pre>
 * u8  bits
 * u8  1 if keys were divided by the factors of the model's profile, else 0
 *     codes, a UniformForm
 * </pre>
 */
public final class PmkvqPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 3;

  private final UniformPage codes;
  private final int level;
  private final Optional<Smoothing> smoothing;

  PmkvqPage(UniformPage codes, int level, Optional<Smoothing> smoothing) {
    this.codes = codes;
    this.level = level;
    this.smoothing = smoothing;
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(KIND, 2 + UniformForm.bytes(codes), this::write);
  }

  private void write(ByteBuffer out) {
    out.put((byte) bits()).put((byte) (smoothing.isPresent() ? 1 : 0));
    UniformForm.write(codes, out);
  }

  /** Reads what {@link #form} wrote. */
  static PmkvqPage read(SharedArena memory, Form form, PmkvqCodec codec, int layer) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, codec, layer));
  }

  private static PmkvqPage read(SharedArena memory, ByteBuffer in, PmkvqCodec codec, int layer) {
    int bits = in.get();
    int smoothed = in.get();
    Optional<Smoothing> smoothing = codec.smoothing(layer);
    if (smoothed != (smoothing.isPresent() ? 1 : 0)) {
      throw Envelope.PAGE.refused(
          "has keys that are %s; those of this cache are %s"
              .formatted(smoothness(smoothed != 0), smoothness(smoothing.isPresent())));
    }
    int level = codec.requireLevel(Envelope.PAGE, layer, bits);
    List<HeadShape> shapes = codec.shapes(level);
    UniformPage codes =
        UniformForm.read(memory, in, shapes.size(), found -> shapes.getFirst(), codec.lookups());
    return new PmkvqPage(codes, level, smoothing);
  }

  private static String smoothness(boolean smoothed) {
    return smoothed ? "divided by factors" : "as they were";
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(PmkvqReader.KIND);
  }

  /** Values, and keys as they are packed. */
  public UniformPage codes() {
    return codes;
  }

  /** What keys were divided by. */
  public Optional<Smoothing> smoothing() {
    return smoothing;
  }

  int level() {
    return level;
  }

  /** Bits of a code. */
  public int bits() {
    return HeadWidths.bits(level);
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
    if (smoothing.isPresent()) {
      smoothing.get().restore(kvHead, out, 0, tokens);
    }
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandValues(room, kvHead, tokens, out);
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

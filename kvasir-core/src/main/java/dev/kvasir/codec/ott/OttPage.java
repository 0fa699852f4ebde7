package dev.kvasir.codec.ott;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.uniform.UniformForm;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values in codes, beside the tokens that are kept. Stored:
 *
 * <pre>
 * u16  KV heads
 * u8   tokens that are kept of each
 * u16  channels of a key
 * u16  channels of a value
 *      what is kept, as KeptShape lays it out
 *      codes, a UniformForm
 * </pre>
 */
final class OttPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 40;

  private static final int HEADER_BYTES = 3 * Short.BYTES + 1;

  private final SharedArena memory;
  private final UniformPage codes;
  private final KeptTokens kept;

  /** Takes the codes over. */
  OttPage(SharedArena memory, UniformPage codes, KeptTokens kept) {
    this.memory = memory.retain();
    this.codes = codes;
    this.kept = kept;
  }

  @Override
  public byte[] form() {
    long bytes = HEADER_BYTES + kept.bytes().byteSize() + UniformForm.bytes(codes);
    return Envelope.PAGE.seal(KIND, bytes, this::write);
  }

  private void write(ByteBuffer out) {
    KeptShape shape = kept.shape();
    out.putShort((short) shape.kvHeads()).put((byte) shape.outliers());
    out.putShort((short) shape.keyDim()).putShort((short) shape.valueDim());
    out.put(kept.bytes().asByteBuffer());
    UniformForm.write(codes, out);
  }

  /** Reads what {@link #form} wrote. */
  static OttPage read(SharedArena memory, Form form, OttCodec codec) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, codec));
  }

  private static OttPage read(SharedArena memory, ByteBuffer in, OttCodec codec) {
    KeptShape shape = codec.kept();
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int outliers = Byte.toUnsignedInt(in.get());
    int keyDim = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    KeptShape found = new KeptShape(kvHeads, outliers, keyDim, valueDim, shape.group());
    if (!found.equals(shape)) {
      throw Envelope.PAGE.refused(
          "keeps %s; this cache keeps %s".formatted(inWords(found), inWords(shape)));
    }
    if (in.remaining() < shape.bytes()) {
      throw Envelope.PAGE.refused(
          "has %d bytes of what it keeps; expected %d".formatted(in.remaining(), shape.bytes()));
    }
    ByteBuffer stored = in.slice(in.position(), (int) shape.bytes());
    in.position(in.position() + (int) shape.bytes());
    new KeptTokens(shape, MemorySegment.ofBuffer(stored)).requirePlaces();
    UniformPage codes = UniformForm.read(memory, in, kvHeads, any -> codec.head(), codec.lookups());
    try {
      MemorySegment bytes = memory.allocate(shape.bytes()).copyFrom(MemorySegment.ofBuffer(stored));
      return new OttPage(memory, codes, new KeptTokens(shape, bytes));
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  private static String inWords(KeptShape shape) {
    return "%d tokens of %d KV heads with keys of %d channels and values of %d"
        .formatted(shape.outliers(), shape.kvHeads(), shape.keyDim(), shape.valueDim());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(OttReader.KIND);
  }

  UniformPage codes() {
    return codes;
  }

  KeptTokens kept() {
    return kept;
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
    kept.putKeys(kvHead, tokens, out);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandValues(room, kvHead, tokens, out);
    kept.putValues(kvHead, tokens, out);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  /** What is kept counts as scales do: what a page has beside its codes. */
  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + kept.bytes().byteSize();
  }

  @Override
  public void close() {
    codes.close();
    memory.release();
  }
}

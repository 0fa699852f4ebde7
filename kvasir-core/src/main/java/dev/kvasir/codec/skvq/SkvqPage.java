package dev.kvasir.codec.skvq;

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
 * A layer's keys and values in codes, and the order in which channels of values lie. Stored:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a value
 *      ValueOrders
 *      codes, a UniformForm
 * </pre>
 */
final class SkvqPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 42;

  private static final int HEADER_BYTES = 2 * Short.BYTES;

  private final SharedArena memory;
  private final UniformPage codes;
  private final ValueOrders orders;

  /** Takes the codes over. */
  SkvqPage(SharedArena memory, UniformPage codes, ValueOrders orders) {
    this.memory = memory.retain();
    this.codes = codes;
    this.orders = orders;
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        HEADER_BYTES + orders.bytes().byteSize() + UniformForm.bytes(codes),
        out -> {
          out.putShort((short) codes.shapes().size());
          out.putShort((short) orders.shape().valueDim());
          out.put(orders.bytes().asByteBuffer());
          UniformForm.write(codes, out);
        });
  }

  /** Reads what {@link #form} wrote. */
  static SkvqPage read(SharedArena memory, Form form, SkvqCodec codec) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, codec));
  }

  private static SkvqPage read(SharedArena memory, ByteBuffer in, SkvqCodec codec) {
    SkvqShape shape = codec.shape();
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    if (kvHeads != codec.kvHeads() || valueDim != shape.valueDim()) {
      throw Envelope.PAGE.refused(
          "has values of %d KV heads with %d channels; this cache of %d with %d"
              .formatted(kvHeads, valueDim, codec.kvHeads(), shape.valueDim()));
    }
    byte[] stored = new byte[kvHeads * shape.orderBytes()];
    in.get(stored);
    new ValueOrders(shape, MemorySegment.ofArray(stored)).requirePermutations(kvHeads);
    UniformPage codes =
        UniformForm.read(memory, in, kvHeads, found -> codec.head(), codec.lookups());
    try {
      MemorySegment bytes = memory.allocate(stored.length).copyFrom(MemorySegment.ofArray(stored));
      return new SkvqPage(memory, codes, new ValueOrders(shape, bytes));
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(SkvqReader.KIND);
  }

  UniformPage codes() {
    return codes;
  }

  ValueOrders orders() {
    return orders;
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    int width = orders.shape().valueDim();
    SkvqRoom own = SkvqRoom.of(room, TOKENS * width);
    codes.expandValues(room, kvHead, tokens, own.values);
    for (int place = 0; place < width; place++) {
      int channel = orders.channelAt(kvHead, place);
      for (int token = 0; token < tokens; token++) {
        out[token * width + channel] = own.values[token * width + place];
      }
    }
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  /** Orders count as scales do: what a page has beside its codes. */
  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + orders.bytes().byteSize();
  }

  @Override
  public void close() {
    codes.close();
    memory.release();
  }
}

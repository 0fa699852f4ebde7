package dev.kvasir.methods.skvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A layer's keys and values in codes, with the channel order of values. Serialized:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a value
 *      ValueOrders
 *      codes, a UniformPageSerializer
 * </pre>
 */
final class SkvqPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 42;

  private static final int HEADER_BYTES = 2 * Short.BYTES;

  private final SharedArena memory;
  private final UniformPage codes;
  private final ValueOrders orders;

  /** Creates a page that owns the codes. */
  SkvqPage(SharedArena memory, UniformPage codes, ValueOrders orders) {
    this.memory = memory.retain();
    this.codes = codes;
    this.orders = orders;
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        HEADER_BYTES + orders.bytes().byteSize() + UniformPageSerializer.bytes(codes),
        out -> {
          out.putShort((short) codes.shapes().size());
          out.putShort((short) orders.shape().valueDim());
          out.put(orders.bytes().asByteBuffer());
          UniformPageSerializer.write(codes, out);
        });
  }

  /** Reads what {@link #serialize} wrote. */
  static SkvqPage read(SharedArena memory, Snapshot snapshot, SkvqCodec codec) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(memory, in, codec));
  }

  private static SkvqPage read(SharedArena memory, ByteBuffer in, SkvqCodec codec) {
    SkvqShape shape = codec.shape();
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    if (kvHeads != codec.kvHeads() || valueDim != shape.valueDim()) {
      throw SnapshotHeader.PAGE.invalid(
          "has values of %d KV heads with %d channels; this cache of %d with %d"
              .formatted(kvHeads, valueDim, codec.kvHeads(), shape.valueDim()));
    }
    MemorySegment stored =
        MemorySegment.ofBuffer(Snapshot.nested(in, kvHeads * shape.orderBytes()).bytes());
    new ValueOrders(shape, stored).requirePermutations(kvHeads);
    UniformPage codes =
        UniformPageSerializer.read(
            memory, in, kvHeads, found -> codec.head(), codec.operandPrecision());
    try {
      return new SkvqPage(memory, codes, new ValueOrders(shape, memory.adopt(stored)));
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(SkvqReader.KIND);
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeKeys(workspace, kvHead, tokens, out);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int width = orders.shape().valueDim();
    SkvqScratch scratch = SkvqScratch.of(workspace, TOKENS * width);
    codes.dequantizeValues(workspace, kvHead, tokens, scratch.values);
    for (int place = 0; place < width; place++) {
      int channel = orders.channelAt(kvHead, place);
      for (int token = 0; token < tokens; token++) {
        out[token * width + channel] = scratch.values[token * width + place];
      }
    }
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  /** Counts channel orders as scale bytes. */
  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + orders.bytes().byteSize();
  }

  @Override
  public void close() {
    codes.close();
    memory.release();
  }

  /**
   * Computes attention on packed codes; restores the channel order of what a page adds to the
   * output.
   */
  private static final class SkvqReader implements PageReader {
    static final PageReaders.Kind<SkvqReader> KIND = new PageReaders.Kind<>(SkvqReader::new);

    private final int valueDim;
    private final UniformReader uniform;
    private final float[] outputs; // (rows, valueDim), in the page's channel order

    private SkvqReader(PageReaders readers) {
      this.valueDim = readers.valueDim();
      this.uniform = readers.of(UniformReader.KIND);
      this.outputs = new float[PageReader.MAX_ROWS * valueDim];
    }

    @Override
    public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
      uniform.score(((SkvqPage) page).codes, kvHead, queries, rows, scores);
    }

    @Override
    public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
      SkvqPage ordered = (SkvqPage) page;
      Arrays.fill(outputs, 0, rows * valueDim, 0);
      uniform.accumulate(ordered.codes, kvHead, weights, rows, outputs);
      for (int place = 0; place < valueDim; place++) {
        int channel = ordered.orders.channelAt(kvHead, place);
        for (int row = 0; row < rows; row++) {
          accumulator[row * valueDim + channel] += outputs[row * valueDim + place];
        }
      }
    }
  }

  /** Scratch array of one worker for values in stored channel order. */
  private static final class SkvqScratch {
    float[] values = {};

    static SkvqScratch of(PageWorkspace workspace, int count) {
      SkvqScratch scratch = workspace.scratch(SkvqScratch.class, SkvqScratch::new);
      if (scratch.values.length < count) {
        scratch.values = new float[count];
      }
      return scratch;
    }
  }
}

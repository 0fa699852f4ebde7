package dev.kvasir.methods.ott;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values in codes, with unquantized outlier tokens. Serialized:
 *
 * <pre>
 * u16  KV heads
 * u8   outlier tokens of each
 * u16  channels of a key
 * u16  channels of a value
 *      outlier tokens, an OutlierTokenLayout
 *      codes, a UniformPageSerializer
 * </pre>
 */
final class OttPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 40;

  private static final int HEADER_BYTES = 3 * Short.BYTES + 1;

  private final SharedArena memory;
  private final UniformPage codes;
  private final OutlierTokens outliers;

  /** Creates a page that owns the codes. */
  OttPage(SharedArena memory, UniformPage codes, OutlierTokens outliers) {
    this.memory = memory.retain();
    this.codes = codes;
    this.outliers = outliers;
  }

  @Override
  public byte[] serialize() {
    long bytes = HEADER_BYTES + outliers.bytes().byteSize() + UniformPageSerializer.bytes(codes);
    return SnapshotHeader.PAGE.wrap(KIND, bytes, this::write);
  }

  private void write(ByteBuffer out) {
    OutlierTokenLayout layout = outliers.layout();
    out.putShort((short) layout.kvHeads()).put((byte) layout.outliers());
    out.putShort((short) layout.keyDim()).putShort((short) layout.valueDim());
    out.put(outliers.bytes().asByteBuffer());
    UniformPageSerializer.write(codes, out);
  }

  /** Reads what {@link #serialize} wrote. */
  static OttPage read(SharedArena memory, Snapshot snapshot, OttCodec codec) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(memory, in, codec));
  }

  private static OttPage read(SharedArena memory, ByteBuffer in, OttCodec codec) {
    OutlierTokenLayout layout = codec.outlierLayout();
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int outliers = Byte.toUnsignedInt(in.get());
    int keyDim = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    OutlierTokenLayout found =
        new OutlierTokenLayout(kvHeads, outliers, keyDim, valueDim, layout.group());
    if (!found.equals(layout)) {
      throw SnapshotHeader.PAGE.invalid(
          "keeps %s; this cache keeps %s".formatted(describe(found), describe(layout)));
    }
    if (in.remaining() < layout.bytes()) {
      throw SnapshotHeader.PAGE.invalid(
          "has %d bytes of outlier tokens; expected %d".formatted(in.remaining(), layout.bytes()));
    }
    ByteBuffer stored = in.slice(in.position(), (int) layout.bytes());
    in.position(in.position() + (int) layout.bytes());
    new OutlierTokens(layout, MemorySegment.ofBuffer(stored)).requireValidIndices();
    UniformPage codes =
        UniformPageSerializer.read(
            memory, in, kvHeads, any -> codec.head(), codec.operandPrecision());
    try {
      MemorySegment bytes = memory.adopt(MemorySegment.ofBuffer(stored));
      return new OttPage(memory, codes, new OutlierTokens(layout, bytes));
    } catch (RuntimeException | Error e) {
      codes.close();
      throw e;
    }
  }

  private static String describe(OutlierTokenLayout layout) {
    return "%d tokens of %d KV heads with keys of %d channels and values of %d"
        .formatted(layout.outliers(), layout.kvHeads(), layout.keyDim(), layout.valueDim());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(OttReader.KIND);
  }

  UniformPage codes() {
    return codes;
  }

  OutlierTokens outliers() {
    return outliers;
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeKeys(workspace, kvHead, tokens, out);
    outliers.restoreKeys(kvHead, tokens, out);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeValues(workspace, kvHead, tokens, out);
    outliers.restoreValues(kvHead, tokens, out);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  /** Counts outlier tokens as scale bytes. */
  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + outliers.bytes().byteSize();
  }

  @Override
  public void close() {
    codes.close();
    memory.release();
  }
}

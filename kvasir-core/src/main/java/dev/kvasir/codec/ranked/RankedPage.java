package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeGrid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A layer's keys and values with two widths of tokens, head after head as {@link RankedShape} lays
 * them out. Stored:
 *
 * <pre>
 * u16  KV heads
 *      a RankedShape
 *      the page's bytes
 * </pre>
 */
final class RankedPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 41;

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int INFINITE = 0x7C00;

  private final SharedArena memory;
  private final int kvHeads;
  private final RankedShape shape;
  private final Lookups lookups;
  private final MemorySegment bytes;

  /** All zeros, to be filled by a {@link RankedPacking}. */
  RankedPage(SharedArena memory, int kvHeads, RankedShape shape, Lookups lookups) {
    this.kvHeads = kvHeads;
    this.shape = shape;
    this.lookups = lookups;
    this.bytes = memory.allocate(kvHeads * shape.bytes());
    this.memory = memory.retain();
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        Short.BYTES + RankedShape.headerBytes() + bytes.byteSize(),
        out -> {
          out.putShort((short) kvHeads);
          shape.write(out);
          out.put(bytes.asByteBuffer());
        });
  }

  /** Reads what {@link #form} wrote, which must be such a page. */
  static RankedPage read(
      SharedArena memory, Form form, int kvHeads, RankedShape shape, Lookups lookups) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, kvHeads, shape, lookups));
  }

  private static RankedPage read(
      SharedArena memory, ByteBuffer in, int kvHeads, RankedShape shape, Lookups lookups) {
    int heads = Short.toUnsignedInt(in.getShort());
    RankedShape found = RankedShape.read(in);
    if (heads != kvHeads || !found.isLike(shape)) {
      throw Envelope.PAGE.refused(
          "has in %d KV heads %s; this cache has in %d %s".formatted(heads, found, kvHeads, shape));
    }
    Envelope.PAGE.requireRest(in, kvHeads * shape.bytes());
    RankedPage page = new RankedPage(memory, kvHeads, shape, lookups);
    page.bytes.copyFrom(MemorySegment.ofBuffer(in));
    return page.requireSound();
  }

  private RankedPage requireSound() {
    for (int head = 0; head < kvHeads; head++) {
      int marked = 0;
      for (int token = 0; token < TOKENS; token++) {
        marked += isMarked(head, token) ? 1 : 0;
      }
      if (marked != shape.tokens(0) || !hasFactors(head)) {
        close();
        throw Envelope.PAGE.refused(
            marked == shape.tokens(0)
                ? "has in head %d a factor that is not above zero and finite".formatted(head)
                : "marks %d tokens of head %d; expected %d"
                    .formatted(marked, head, shape.tokens(0)));
      }
    }
    return this;
  }

  private boolean hasFactors(int head) {
    long end = head * shape.bytes() + shape.keysOffset(0);
    for (long at = head * shape.bytes() + shape.keyFactorsOffset(); at < end; at += Short.BYTES) {
      short half = bytes.get(HALF, at);
      if (half <= 0 || half >= INFINITE) {
        return false;
      }
    }
    return true;
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(RankedReader.KIND);
  }

  RankedShape shape() {
    return shape;
  }

  boolean isExact() {
    return lookups == Lookups.EXACT;
  }

  MemorySegment bytes() {
    return bytes;
  }

  /** Where a head begins. */
  long offset(int kvHead) {
    return kvHead * shape.bytes();
  }

  void mark(int kvHead, int token) {
    long at = offset(kvHead) + token / Byte.SIZE;
    int marks = bytes.get(ValueLayout.JAVA_BYTE, at);
    bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (marks | 1 << token % Byte.SIZE));
  }

  private boolean isMarked(int kvHead, int token) {
    int marks = bytes.get(ValueLayout.JAVA_BYTE, offset(kvHead) + token / Byte.SIZE);
    return (marks >> token % Byte.SIZE & 1) == 1;
  }

  /** The tokens of a head by tier, each in their order. // (TOKENS), set */
  void copyPlaces(int kvHead, int[] places) {
    int high = 0;
    int low = shape.tokens(0);
    for (int token = 0; token < TOKENS; token++) {
      places[isMarked(kvHead, token) ? high++ : low++] = token;
    }
  }

  void putFactors(long at, float[] factors) {
    for (int i = 0; i < factors.length; i++) {
      bytes.set(HALF, at + 2L * i, Float.floatToFloat16(factors[i]));
    }
  }

  @Override
  public void expandKeys(PageRoom worker, int kvHead, int tokens, float[] out) {
    RankedRoom room = RankedRoom.of(worker);
    int width = shape.keyDim();
    copyPlaces(kvHead, room.places);
    for (int tier = 0; tier < RankedShape.TIERS; tier++) {
      CodeGrid grid = shape.keys().get(tier);
      float[] x = worker.codes().grid(grid.entries() * grid.lanes());
      grid.expand(worker.codes(), bytes, offset(kvHead) + shape.keysOffset(tier), x);
      int first = tier == 0 ? 0 : shape.tokens(0);
      for (int lane = 0; lane < grid.lanes(); lane++) {
        int token = room.places[first + lane];
        for (int channel = 0; token < tokens && channel < width; channel++) {
          out[token * width + channel] = x[channel * grid.lanes() + lane];
        }
      }
    }
    if (shape.dividesKeys()) {
      multiply(worker, room, offset(kvHead) + shape.keyFactorsOffset(), width, tokens, out);
    }
  }

  @Override
  public void expandValues(PageRoom worker, int kvHead, int tokens, float[] out) {
    RankedRoom room = RankedRoom.of(worker);
    int width = shape.valueDim();
    copyPlaces(kvHead, room.places);
    for (int tier = 0; tier < RankedShape.TIERS; tier++) {
      CodeGrid grid = shape.values().get(tier);
      float[] x = worker.codes().grid(grid.entries() * grid.lanes());
      grid.expand(worker.codes(), bytes, offset(kvHead) + shape.valuesOffset(tier), x);
      int first = tier == 0 ? 0 : shape.tokens(0);
      for (int entry = 0; entry < grid.entries(); entry++) {
        int token = room.places[first + entry];
        if (token < tokens) {
          System.arraycopy(x, entry * width, out, token * width, width);
        }
      }
    }
    if (shape.dividesValues()) {
      multiply(worker, room, offset(kvHead) + shape.valueFactorsOffset(), width, tokens, out);
    }
  }

  private void multiply(
      PageRoom worker, RankedRoom room, long factorsAt, int width, int rows, float[] x) {
    float[] factors = room.factors(width);
    worker.kernels().halves().expand(bytes, factorsAt, factors, 0, width);
    for (int row = 0; row < rows; row++) {
      worker.kernels().rows().multiply(x, row * width, factors, 0, x, row * width, width);
    }
  }

  @Override
  public long codeBytes() {
    return kvHeads * shape.codeBytes();
  }

  /** Marks and factors count as scales do: what a page has beside its codes. */
  @Override
  public long scaleBytes() {
    return bytes.byteSize() - codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}

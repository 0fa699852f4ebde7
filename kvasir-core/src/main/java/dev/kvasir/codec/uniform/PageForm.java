package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.page.CodeBlock;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HalfCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LaneScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A page as bytes that outlive the process: what is stored, and what other machines read. Blocks
 * lie in it as they lie in memory, little-endian on every machine.
 *
 * <pre>
 * 4 bytes  "KVPG"
 * u8       version, 1
 * u8       kind of page, 1: uniform
 * u16      KV heads
 * for each head:
 *   u8     1 if an order of channels is stored
 *   u8     blocks of keys
 *   each block, then the block of values:
 *     u8   kind, 1: entry-scaled, 2: lane-scaled, 3: halves; with scales that span a third of a
 *          range 4: entry-scaled, 5: lane-scaled, 6: wide by entry, 7: wide by lane
 *     u8   bits
 *     u16  entries
 *     u16  lanes
 *     u16  group, 0 where there is none
 * the page's bytes
 * </pre>
 */
public final class PageForm {
  private static final int MAGIC = 0x4750564B; // "KVPG", read little-endian
  private static final int VERSION = 1;
  private static final int UNIFORM = 1;
  private static final int ENTRY_SCALED = 1;
  private static final int LANE_SCALED = 2;
  private static final int HALVES = 3;
  private static final int ENTRY_THIRDS = 4;
  private static final int LANE_THIRDS = 5;
  private static final int WIDE_BY_ENTRY = 6;
  private static final int WIDE_BY_LANE = 7;
  private static final int HEADER_BYTES = 8;
  private static final int BLOCK_BYTES = 8;

  private PageForm() {}

  public static byte[] write(UniformPage page) {
    int header = HEADER_BYTES;
    for (HeadShape head : page.shapes()) {
      header += 2 + BLOCK_BYTES * (head.keys().size() + 1);
    }
    byte[] bytes = new byte[Math.toIntExact(header + page.bytes().byteSize())];
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(MAGIC).put((byte) VERSION).put((byte) UNIFORM);
    out.putShort((short) page.shapes().size());
    for (HeadShape head : page.shapes()) {
      out.put((byte) (head.ordered() ? 1 : 0)).put((byte) head.keys().size());
      head.keys().forEach(block -> write(block, out));
      write(head.values(), out);
    }
    out.put(page.bytes().toArray(ValueLayout.JAVA_BYTE));
    return bytes;
  }

  private static void write(CodeBlock block, ByteBuffer out) {
    int kind =
        switch (block) {
          case EntryScaledCodes codes ->
              codes.span() == ScaleSpan.STEP ? ENTRY_SCALED : ENTRY_THIRDS;
          case LaneScaledCodes codes -> codes.span() == ScaleSpan.STEP ? LANE_SCALED : LANE_THIRDS;
          case HalfCodes codes -> HALVES;
          case WideCodes codes -> codes.byLane() ? WIDE_BY_LANE : WIDE_BY_ENTRY;
        };
    int group =
        switch (block) {
          case EntryScaledCodes codes -> codes.group();
          case WideCodes codes -> codes.group();
          default -> 0;
        };
    out.put((byte) kind).put((byte) block.bits());
    out.putShort((short) block.entries()).putShort((short) block.lanes()).putShort((short) group);
  }

  /**
   * Reads what {@link #write} wrote; anything else is refused in one sentence.
   *
   * @param lookups how attention is to read the page
   */
  public static UniformPage read(byte[] bytes, Lookups lookups) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    require(in, HEADER_BYTES);
    if (in.getInt() != MAGIC) {
      throw new InvalidInputException("a stored page does not begin with KVPG");
    }
    expect("version", in.get(), VERSION);
    expect("kind", in.get(), UNIFORM);
    int heads = in.getShort() & 0xFFFF;
    List<HeadShape> shapes = new ArrayList<>();
    for (int head = 0; head < heads; head++) {
      shapes.add(readHead(in, head));
    }
    long wanted = shapes.stream().mapToLong(HeadShape::bytes).sum();
    if (in.remaining() != wanted) {
      throw new InvalidInputException(
          "a stored page has %d bytes after its header; its shapes take %d"
              .formatted(in.remaining(), wanted));
    }
    MemorySegment rest = MemorySegment.ofArray(bytes).asSlice(in.position());
    return checkOrders(UniformPage.of(shapes, lookups, rest));
  }

  private static HeadShape readHead(ByteBuffer in, int head) {
    require(in, 2);
    boolean ordered = in.get() != 0;
    int count = in.get() & 0xFF;
    List<CodeBlock> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(readBlock(in));
    }
    CodeBlock values = readBlock(in);
    boolean whole = keys.stream().allMatch(block -> block.lanes() == Page.TOKENS);
    if (!whole || values.entries() != Page.TOKENS) {
      throw new InvalidInputException(
          "head %d of a stored page has blocks of other than %d tokens"
              .formatted(head, Page.TOKENS));
    }
    return checked(() -> new HeadShape(keys, ordered, values));
  }

  private static CodeBlock readBlock(ByteBuffer in) {
    require(in, BLOCK_BYTES);
    int kind = in.get();
    int bits = in.get();
    int entries = in.getShort() & 0xFFFF;
    int lanes = in.getShort() & 0xFFFF;
    int group = in.getShort() & 0xFFFF;
    return checked(
        () ->
            switch (kind) {
              case ENTRY_SCALED -> new EntryScaledCodes(entries, lanes, bits, group);
              case LANE_SCALED -> new LaneScaledCodes(entries, lanes, bits);
              case HALVES -> new HalfCodes(entries, lanes);
              case ENTRY_THIRDS ->
                  new EntryScaledCodes(entries, lanes, bits, group, ScaleSpan.THIRD);
              case LANE_THIRDS -> new LaneScaledCodes(entries, lanes, bits, ScaleSpan.THIRD);
              case WIDE_BY_ENTRY -> new WideCodes(entries, lanes, false, group);
              case WIDE_BY_LANE -> new WideCodes(entries, lanes, true, group);
              default ->
                  throw new InvalidInputException(
                      "a stored page has a block of kind %d; known are 1 to 7".formatted(kind));
            });
  }

  /** Shapes refuse what they cannot be as a caller's mistake; here it is the file's. */
  private static <T> T checked(Supplier<T> shape) {
    try {
      return shape.get();
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException("a stored page is damaged: %s".formatted(e.getMessage()));
    }
  }

  private static UniformPage checkOrders(UniformPage page) {
    for (int head = 0; head < page.shapes().size(); head++) {
      if (!page.hasWholeOrder(head)) {
        page.close();
        throw new InvalidInputException(
            "head %d of a stored page has an order of channels that is no permutation"
                .formatted(head));
      }
    }
    return page;
  }

  private static void expect(String what, int found, int expected) {
    if (found != expected) {
      throw new InvalidInputException(
          "a stored page has %s %d; expected %d".formatted(what, found, expected));
    }
  }

  private static void require(ByteBuffer in, int bytes) {
    if (in.remaining() < bytes) {
      throw new InvalidInputException(
          "a stored page ends after %d bytes, in the midst of its header".formatted(in.limit()));
    }
  }
}

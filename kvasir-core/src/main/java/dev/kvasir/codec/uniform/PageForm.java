package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.BufferUnderflowException;
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
 *          a HeadShape for each of them
 * the page's bytes
 * </pre>
 */
public final class PageForm {
  private static final int MAGIC = 0x4750564B; // "KVPG", read little-endian
  private static final int VERSION = 1;
  private static final int UNIFORM = 1;
  private static final int HEADER_BYTES = 8;

  private PageForm() {}

  public static byte[] write(UniformPage page) {
    int header = HEADER_BYTES;
    for (HeadShape head : page.shapes()) {
      header += head.headerBytes();
    }
    byte[] bytes = new byte[Math.toIntExact(header + page.bytes().byteSize())];
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(MAGIC).put((byte) VERSION).put((byte) UNIFORM);
    out.putShort((short) page.shapes().size());
    for (HeadShape head : page.shapes()) {
      head.write(out);
    }
    out.put(page.bytes().toArray(ValueLayout.JAVA_BYTE));
    return bytes;
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
    HeadShape shape = checked(() -> HeadShape.read(in));
    boolean whole = shape.keys().stream().allMatch(block -> block.lanes() == Page.TOKENS);
    if (!whole || shape.values().entries() != Page.TOKENS) {
      throw new InvalidInputException(
          "head %d of a stored page has blocks of other than %d tokens"
              .formatted(head, Page.TOKENS));
    }
    return shape;
  }

  /** Shapes refuse what they cannot be as a caller's mistake; here it is the file's. */
  private static <T> T checked(Supplier<T> shape) {
    try {
      return shape.get();
    } catch (BufferUnderflowException e) {
      throw new InvalidInputException("a stored page ends in the midst of its header");
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

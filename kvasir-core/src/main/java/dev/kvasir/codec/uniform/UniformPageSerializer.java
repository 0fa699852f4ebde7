package dev.kvasir.codec.uniform;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Reads and writes matrices of codes at the end of a page's payload, in their memory layout.
 *
 * <pre>
 * u16  KV heads
 *      a HeadShape for each of them
 *      the page's bytes
 * </pre>
 */
public final class UniformPageSerializer {
  private UniformPageSerializer() {}

  public static long bytes(UniformPage page) {
    int shapes = page.shapes().stream().mapToInt(HeadShape::headerBytes).sum();
    return Short.BYTES + shapes + page.bytes().byteSize();
  }

  public static void write(UniformPage page, ByteBuffer out) {
    out.putShort((short) page.shapes().size());
    page.shapes().forEach(shape -> shape.write(out));
    out.put(page.bytes().asByteBuffer());
  }

  /**
   * Reads the rest of a payload.
   *
   * @param memory the memory of the page
   * @param kvHeads the required number of KV heads
   * @param possible maps a stored shape to the one the cache would use instead
   */
  public static UniformPage read(
      SharedArena memory,
      ByteBuffer in,
      int kvHeads,
      UnaryOperator<HeadShape> possible,
      OperandPrecision operandPrecision) {
    int found = Short.toUnsignedInt(in.getShort());
    if (found != kvHeads) {
      throw SnapshotHeader.PAGE.invalid(
          "has %d KV heads; this cache has %d".formatted(found, kvHeads));
    }
    List<HeadShape> shapes = new ArrayList<>();
    for (int head = 0; head < kvHeads; head++) {
      if (head == 0 || !repeats(in, shapes.getLast().headerBytes())) {
        shapes.add(accepted(HeadShape.read(in), possible, head));
      } else {
        shapes.add(shapes.getLast());
      }
    }
    SnapshotHeader.PAGE.requireRemaining(in, shapes.stream().mapToLong(HeadShape::bytes).sum());
    return checkOrders(
        UniformPage.of(memory, shapes, operandPrecision, MemorySegment.ofBuffer(in)));
  }

  /** Skips the next bytes if they repeat the previous ones, since most heads are alike. */
  private static boolean repeats(ByteBuffer in, int count) {
    int at = in.position();
    boolean repeats =
        in.remaining() >= count && in.slice(at, count).equals(in.slice(at - count, count));
    in.position(repeats ? at + count : at);
    return repeats;
  }

  private static HeadShape accepted(HeadShape found, UnaryOperator<HeadShape> possible, int head) {
    HeadShape shape = possible.apply(found);
    if (!shape.hasSameLayout(found)) {
      throw SnapshotHeader.PAGE.invalid(
          "has in head %d %s; this cache has %s".formatted(head, found, shape));
    }
    return shape;
  }

  private static UniformPage checkOrders(UniformPage page) {
    for (int head = 0; head < page.shapes().size(); head++) {
      if (page.shape(head).ordered() && !page.hasValidOrder(head)) {
        page.close();
        throw SnapshotHeader.PAGE.invalid(
            "has in head %d an order of channels that is no permutation".formatted(head));
      }
    }
    return page;
  }
}

package dev.kvasir.codec.uniform;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A page whose tokens are quantized in slices of equal length. Each slice has its own shapes and
 * channel orders. Serialized:
 *
 * <pre>
 * u8   slices
 *      for each: u32 bytes, then the slice as written by UniformPageSerializer
 * </pre>
 */
public final class SlicedPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 9;

  private final List<UniformPage> slices;

  private SlicedPage(List<UniformPage> slices) {
    this.slices = List.copyOf(slices);
  }

  /** Creates one slice of a page. */
  @FunctionalInterface
  public interface SliceMaker {
    /**
     * Returns a slice.
     *
     * @param index index of the slice
     */
    UniformPage slice(int index);
  }

  /** Creates a page of {@code count} slices; those that exist are closed if one fails. */
  public static SlicedPage of(int count, SliceMaker maker) {
    List<UniformPage> slices = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        slices.add(maker.slice(i));
      }
      return new SlicedPage(slices);
    } catch (RuntimeException | Error e) {
      slices.forEach(UniformPage::close);
      throw e;
    }
  }

  /**
   * Reads a page written by {@link #serialize}.
   *
   * @param count the required number of slices
   * @param kvHeads the required number of KV heads
   * @param possible maps a stored shape to the one the cache would use instead
   */
  public static SlicedPage deserialize(
      SharedArena memory,
      Snapshot snapshot,
      int count,
      int kvHeads,
      UnaryOperator<HeadShape> possible,
      OperandPrecision operandPrecision) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        KIND,
        in -> {
          int found = Byte.toUnsignedInt(in.get());
          if (found != count) {
            throw SnapshotHeader.PAGE.invalid(
                "has %d slices; this cache has %d".formatted(found, count));
          }
          SlicedPage page =
              of(
                  count,
                  index ->
                      UniformPageSerializer.read(
                          memory, next(in), kvHeads, possible, operandPrecision));
          return page.requireEnd(in);
        });
  }

  /** Returns the bytes of the next slice and skips them. */
  private static ByteBuffer next(ByteBuffer in) {
    int bytes = in.getInt();
    if (bytes < 0 || bytes > in.remaining()) {
      throw SnapshotHeader.PAGE.invalid(
          "has a slice of %d bytes in the last %d".formatted(bytes, in.remaining()));
    }
    ByteBuffer slice = in.slice(in.position(), bytes).order(in.order());
    in.position(in.position() + bytes);
    return slice;
  }

  private SlicedPage requireEnd(ByteBuffer in) {
    try {
      SnapshotHeader.PAGE.requireRemaining(in, 0);
      return this;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public byte[] serialize() {
    long bytes = slices.stream().mapToLong(each -> 4 + UniformPageSerializer.bytes(each)).sum();
    return SnapshotHeader.PAGE.wrap(
        KIND,
        1 + bytes,
        out -> {
          out.put((byte) slices.size());
          for (UniformPage slice : slices) {
            out.putInt(Math.toIntExact(UniformPageSerializer.bytes(slice)));
            UniformPageSerializer.write(slice, out);
          }
        });
  }

  List<UniformPage> slices() {
    return slices;
  }

  /** Returns the tokens of each slice. */
  int sliceTokens() {
    return TOKENS / slices.size();
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int width = slices.getFirst().shape(kvHead).keyDim();
    for (int first = 0; first < tokens; first += sliceTokens()) {
      int count = Math.min(sliceTokens(), tokens - first);
      slice(first).dequantizeKeys(workspace, kvHead, count, width, out, first * width);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int width = slices.getFirst().shape(kvHead).valueDim();
    for (int first = 0; first < tokens; first += sliceTokens()) {
      int count = Math.min(sliceTokens(), tokens - first);
      slice(first).dequantizeValues(workspace, kvHead, count, out, first * width);
    }
  }

  private UniformPage slice(int firstToken) {
    return slices.get(firstToken / sliceTokens());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(UniformReader.KIND);
  }

  @Override
  public long codeBytes() {
    return slices.stream().mapToLong(UniformPage::codeBytes).sum();
  }

  @Override
  public long scaleBytes() {
    return slices.stream().mapToLong(UniformPage::scaleBytes).sum();
  }

  @Override
  public void close() {
    slices.forEach(UniformPage::close);
  }
}

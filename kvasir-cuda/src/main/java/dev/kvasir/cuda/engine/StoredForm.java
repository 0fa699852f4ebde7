package dev.kvasir.cuda.engine;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * The serialized form of a sequence on a GPU: pages as they lie in device memory, so that storing
 * converts nothing and a restored sequence has the same bits.
 *
 * <pre>
 * block      u32 position of its first token
 *            sizes of its pages
 *            pages // (layers, 2, kvHeads); (2, layers, kvHeads) if layers have their own widths
 * residual   u32 tokens of the sequence, u32 whole blocks, u32 sinks
 *            sizes of fp16 pages
 *            pages of sinks, then of the window // (layers, pages, kvHeads)
 * sizes      u16 layers, u16 KV heads, u8 bits, u32 bytes of a page of one KV head;
 *            bits are keys' * 16 + values' if these differ, and 255 with a checksum of the widths in
 *            place of bytes if layers have their own
 * </pre>
 *
 * What follows the tokens of a page is written as zeros: it is from other sequences.
 */
final class StoredForm {
  /** Kind of both parts, far from those of the host, whose caches reject them by it. */
  static final int KIND = 129;

  private static final int SIZES_BYTES = 2 * Short.BYTES + 1 + Integer.BYTES;

  private final CacheShape shape;
  private final PageFormat format;
  private final int sinks;

  /**
   * The residual part of a sequence.
   *
   * @param pages in place
   */
  record Residual(SnapshotLayout layout, MemorySegment pages) {}

  StoredForm(CacheShape shape, DeviceCacheConfig cacheConfig) {
    this.shape = shape;
    this.format = cacheConfig.format();
    this.sinks = cacheConfig.sinks();
  }

  private long bytes(PageFormat of, int pages) {
    return pages * of.packedBytes(shape);
  }

  /**
   * Returns a block.
   *
   * @param position of its first token
   * @param fill writes the pages to an array segment
   */
  byte[] block(int position, Consumer<MemorySegment> fill) {
    long bytes = bytes(format, Fp16Page.BLOCK_PAGES);
    return SnapshotHeader.BLOCK.wrap(
        KIND,
        Integer.BYTES + SIZES_BYTES + bytes,
        out -> {
          out.putInt(position);
          putSizes(format, out);
          fill.accept(next(out, bytes));
        });
  }

  /**
   * Returns the pages of a block, in place.
   *
   * @param position of its first token
   * @throws dev.kvasir.error.InvalidInputException if it is damaged or another block
   */
  MemorySegment blockPages(Snapshot block, int position) {
    SnapshotHeader header = SnapshotHeader.BLOCK;
    return header.unwrap(
        block,
        KIND,
        in -> {
          int found = header.readPosition(in);
          if (found != position) {
            throw header.invalid("begins at position %d; expected %d".formatted(found, position));
          }
          requireSizes(header, format, in);
          header.requireRemaining(in, bytes(format, Fp16Page.BLOCK_PAGES));
          return MemorySegment.ofBuffer(in);
        });
  }

  /**
   * Returns the residual part.
   *
   * @param fill writes the pages to an array segment
   */
  byte[] residual(SnapshotLayout layout, Consumer<MemorySegment> fill) {
    long bytes = bytes(PageFormat.FP16, layout.residualPages());
    return SnapshotHeader.RESIDUAL.wrap(
        KIND,
        3 * Integer.BYTES + SIZES_BYTES + bytes,
        out -> {
          out.putInt(layout.length()).putInt(layout.blocks()).putInt(layout.sinks());
          putSizes(PageFormat.FP16, out);
          int from = out.position();
          fill.accept(next(out, bytes));
          clearUnused(layout, out.array(), from);
        });
  }

  private void clearUnused(SnapshotLayout layout, byte[] bytes, int from) {
    Fp16Page page = new Fp16Page(shape.keyDim());
    int pages = layout.residualPages();
    for (int i = 0; i < pages; i++) {
      int tokens = layout.tokensIn(i);
      for (int layer = 0; layer < shape.layers() && tokens < Fp16Page.TOKENS; layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          int index = (layer * pages + i) * shape.kvHeads() + head;
          page.clearFrom(tokens, bytes, from + index * page.bytes());
        }
      }
    }
  }

  /**
   * Reads a residual part.
   *
   * @throws dev.kvasir.error.InvalidInputException if it is damaged or of another cache
   */
  Residual residual(Snapshot residual) {
    SnapshotHeader header = SnapshotHeader.RESIDUAL;
    return header.unwrap(
        residual,
        KIND,
        in -> {
          SnapshotLayout layout = readLayout(in);
          requireSizes(header, PageFormat.FP16, in);
          header.requireRemaining(in, bytes(PageFormat.FP16, layout.residualPages()));
          return new Residual(layout, MemorySegment.ofBuffer(in));
        });
  }

  private SnapshotLayout readLayout(ByteBuffer in) {
    SnapshotLayout layout = new SnapshotLayout(in.getInt(), in.getInt(), in.getInt());
    if (layout.sinks() != sinks) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d sinks; this cache has %d".formatted(layout.sinks(), sinks));
    }
    boolean isWhole =
        format.isQuantized() || layout.equals(SnapshotLayout.ofDense(layout.length(), sinks));
    if (!layout.isPossible() || !isWhole) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks of %d tokens and %d positions"
              .formatted(layout.blocks(), SnapshotLayout.BLOCK, layout.length()));
    }
    return layout;
  }

  private void putSizes(PageFormat of, ByteBuffer out) {
    out.putShort((short) shape.layers()).putShort((short) shape.kvHeads());
    out.put((byte) of.storedWidths()).putInt(of.storedPageBytes(shape.keyDim()));
  }

  private void requireSizes(SnapshotHeader header, PageFormat of, ByteBuffer in) {
    int layers = Short.toUnsignedInt(in.getShort());
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int widths = Byte.toUnsignedInt(in.get());
    int headBytes = in.getInt();
    if (layers != shape.layers()
        || kvHeads != shape.kvHeads()
        || widths != of.storedWidths()
        || headBytes != of.storedPageBytes(shape.keyDim())) {
      throw header.invalid(
          "has %d layers of %d KV heads with pages of %d bits and %d bytes; expected %d, %d, %d, %d"
              .formatted(
                  layers,
                  kvHeads,
                  widths,
                  headBytes,
                  shape.layers(),
                  shape.kvHeads(),
                  of.storedWidths(),
                  of.storedPageBytes(shape.keyDim())));
    }
  }

  /** Returns the next bytes of an array buffer, and moves behind them. */
  private static MemorySegment next(ByteBuffer out, long bytes) {
    int from = out.position();
    out.position(Math.toIntExact(from + bytes));
    return MemorySegment.ofArray(out.array()).asSlice(from, bytes);
  }
}

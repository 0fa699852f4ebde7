package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A whole block as bytes. Packed:
 *
 * <pre>
 * u32           position of the first token
 * u16           layers
 * u32 (layers)  bytes of each page
 *               forms of the pages
 * </pre>
 *
 * As it came:
 *
 * <pre>
 * u32           position of the first token
 * u8            0 for 32-bit floats, 1 for halves, 2 for bfloat16
 *               numbers, as DenseBlock writes them
 * </pre>
 */
final class BlockForm {
  private static final int PACKED = 1;
  private static final int DENSE = 2;

  private BlockForm() {}

  static byte[] of(Block block, int position, CacheShape shape, Precision precision) {
    return switch (block) {
      case SealedBlock sealed -> packed(sealed, position);
      case DenseBlock dense -> dense(dense, position, shape, precision);
    };
  }

  private static byte[] packed(SealedBlock sealed, int position) {
    List<byte[]> forms = new ArrayList<>();
    long bytes = Integer.BYTES + Short.BYTES;
    for (int layer = 0; layer < sealed.layers(); layer++) {
      byte[] form = sealed.page(layer).form();
      bytes += Integer.BYTES + form.length;
      forms.add(form);
    }
    return Envelope.BLOCK.seal(
        PACKED,
        bytes,
        out -> {
          out.putInt(position).putShort((short) forms.size());
          forms.forEach(form -> out.putInt(form.length));
          forms.forEach(out::put);
        });
  }

  private static byte[] dense(
      DenseBlock dense, int position, CacheShape shape, Precision precision) {
    long numbers = DenseBlock.bytesFor(shape, Page.TOKENS, precision);
    return Envelope.BLOCK.seal(
        DENSE,
        Integer.BYTES + 1 + numbers,
        out -> {
          out.putInt(position).put((byte) RestForm.code(precision));
          dense.write(Page.TOKENS, out);
        });
  }

  /** The pages of a packed block, in memory of a pool. */
  static SealedBlock readPacked(
      byte[] form, int position, SequenceCodec codec, CacheShape shape, MemoryPool pool) {
    return Envelope.BLOCK.open(
        form, PACKED, in -> new SealedBlock(readPages(in, position, codec, shape, pool)));
  }

  private static List<Page> readPages(
      ByteBuffer in, int position, SequenceCodec codec, CacheShape shape, MemoryPool pool) {
    requirePosition(in, position);
    List<byte[]> forms = readForms(in, shape.layers());
    List<Page> pages = new ArrayList<>();
    SharedArena memory = new SharedArena(pool);
    try {
      for (int layer = 0; layer < forms.size(); layer++) {
        pages.add(codec.read(memory, layer, forms.get(layer)));
        memory = codec instanceof ShrinkingSequence ? memory.next() : memory;
      }
      return pages;
    } catch (RuntimeException | Error e) {
      pages.forEach(Page::close);
      throw e;
    } finally {
      memory.release();
    }
  }

  private static List<byte[]> readForms(ByteBuffer in, int layers) {
    int found = Short.toUnsignedInt(in.getShort());
    if (found != layers) {
      throw Envelope.BLOCK.refused("has %d layers; this cache has %d".formatted(found, layers));
    }
    int[] sizes = new int[layers];
    long bytes = 0;
    for (int layer = 0; layer < layers; layer++) {
      sizes[layer] = in.getInt();
      bytes += Integer.toUnsignedLong(sizes[layer]);
    }
    Envelope.BLOCK.requireRest(in, bytes);
    List<byte[]> forms = new ArrayList<>();
    for (int size : sizes) {
      byte[] form = new byte[size];
      in.get(form);
      forms.add(form);
    }
    return forms;
  }

  /** Fills a block that is not packed. */
  static void readDense(
      byte[] form, int position, DenseBlock block, CacheShape shape, Precision precision) {
    Envelope.BLOCK.open(
        form,
        DENSE,
        in -> {
          requirePosition(in, position);
          RestForm.requirePrecision(Envelope.BLOCK, in, precision);
          Envelope.BLOCK.requireRest(in, DenseBlock.bytesFor(shape, Page.TOKENS, precision));
          block.read(Page.TOKENS, in);
          return block;
        });
  }

  private static void requirePosition(ByteBuffer in, int position) {
    int found = Envelope.BLOCK.position(in);
    if (found != position) {
      throw Envelope.BLOCK.refused(
          "begins at position %d; in its place %d was expected".formatted(found, position));
    }
  }
}

package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.OldPages;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A whole block as bytes. Packed, or packed anew with fewer bits:
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
 *               keys of all layers, then values: layer | KV head | token | channel
 * </pre>
 *
 * Where layers hold a window alone:
 *
 * <pre>
 * u32           position of the first token
 * u8            0 for 32-bit floats, 1 for halves, 2 for bfloat16
 * u16           layers
 * u8 (layers)   0 for one that has let go of it, 1 for a page, 2 for numbers as they came, 3 for a
 *               page with fewer bits
 * u32 (layers)  bytes of each
 *               forms of pages; of numbers keys, then values: KV head | token | channel
 * </pre>
 */
final class BlockForm {
  static final int PACKED = 1;
  static final int DENSE = 2;
  static final int BY_LAYER = 3;
  static final int OLD = 4;

  static final int GONE = 0;
  static final int PAGE = 1;
  static final int NUMBERS = 2;
  static final int OLD_PAGE = 3;

  private static final Kernels KERNELS = new ScalarKernels();

  private final HostBlocks held;
  private final int block;
  private final int position;
  private final Precision precision;
  private final int layers;
  private final Optional<OldPages> old;

  /**
   * @param position of the block's first token
   * @param old how its pages are packed anew; empty where they are stored as they are
   */
  BlockForm(HostBlocks held, int block, int position, Precision precision, Optional<OldPages> old) {
    this.held = held;
    this.block = block;
    this.position = position;
    this.precision = precision;
    this.layers = held.groups().shape().layers();
    this.old = old;
  }

  byte[] bytes() {
    if (!held.groups().holdAll()) {
      return byLayer();
    }
    return held.isSealed(block) ? packed() : dense();
  }

  private byte[] packed() {
    List<byte[]> forms = new ArrayList<>();
    long bytes = Integer.BYTES + Short.BYTES;
    for (int layer = 0; layer < layers; layer++) {
      byte[] form = form((SealedBlock) held.get(layer, block), layer);
      bytes += Integer.BYTES + form.length;
      forms.add(form);
    }
    return Envelope.BLOCK.seal(
        isOld((SealedBlock) held.get(0, block)) ? OLD : PACKED,
        bytes,
        out -> {
          out.putInt(position).putShort((short) layers);
          forms.forEach(form -> out.putInt(form.length));
          forms.forEach(out::put);
        });
  }

  private boolean isOld(SealedBlock sealed) {
    return sealed.isOld() || old.isPresent();
  }

  private byte[] form(SealedBlock sealed, int layer) {
    return sealed.isOld() || old.isEmpty() ? sealed.page(layer).form() : oldForm(sealed, layer);
  }

  private byte[] oldForm(SealedBlock sealed, int layer) {
    CacheShape shape = held.groups().shape();
    int keysOfHead = Page.TOKENS * shape.keyDim();
    int valuesOfHead = Page.TOKENS * shape.storedValueDim();
    float[] keys = new float[Math.multiplyExact(shape.kvHeads(), keysOfHead)];
    float[] values = new float[Math.multiplyExact(shape.kvHeads(), valuesOfHead)];
    float[] room = new float[Math.max(keysOfHead, valuesOfHead)];
    for (int head = 0; head < shape.kvHeads(); head++) {
      sealed.expandKeys(KERNELS, layer, head, Page.TOKENS, room);
      System.arraycopy(room, 0, keys, head * keysOfHead, keysOfHead);
      if (valuesOfHead > 0) {
        sealed.expandValues(KERNELS, layer, head, Page.TOKENS, room);
        System.arraycopy(room, 0, values, head * valuesOfHead, valuesOfHead);
      }
    }
    return old.get().form(layer, position, keys, values);
  }

  private byte[] dense() {
    long numbers = DenseBlock.bytesFor(held.groups().shape(), Page.TOKENS, precision);
    return Envelope.BLOCK.seal(
        DENSE,
        Integer.BYTES + 1 + numbers,
        out -> {
          out.putInt(position).put((byte) RestForm.code(precision));
          writeNumbers(held, block, Page.TOKENS, out);
        });
  }

  /** The first tokens of a block that all layers hold as it came: keys, then values. */
  static void writeNumbers(HostBlocks held, int block, int tokens, ByteBuffer out) {
    int layers = held.groups().shape().layers();
    for (int layer = 0; layer < layers; layer++) {
      held.ofLayer(layer).dense(block).writeKeys(layer, tokens, out);
    }
    for (int layer = 0; layer < layers; layer++) {
      held.ofLayer(layer).dense(block).writeValues(layer, tokens, out);
    }
  }

  private byte[] byLayer() {
    List<byte[]> forms = new ArrayList<>();
    long bytes = Integer.BYTES + 1 + Short.BYTES;
    for (int layer = 0; layer < layers; layer++) {
      byte[] form = layerForm(layer);
      bytes += 1 + Integer.BYTES + form.length;
      forms.add(form);
    }
    return Envelope.BLOCK.seal(
        BY_LAYER,
        bytes,
        out -> {
          out.putInt(position).put((byte) RestForm.code(precision)).putShort((short) layers);
          for (int layer = 0; layer < layers; layer++) {
            out.put((byte) kind(layer));
          }
          forms.forEach(form -> out.putInt(form.length));
          forms.forEach(out::put);
        });
  }

  private int kind(int layer) {
    return switch (held.get(layer, block)) {
      case null -> GONE;
      case SealedBlock sealed -> isOld(sealed) ? OLD_PAGE : PAGE;
      case DenseBlock dense -> NUMBERS;
    };
  }

  private byte[] layerForm(int layer) {
    return switch (held.get(layer, block)) {
      case null -> new byte[0];
      case SealedBlock sealed -> form(sealed, layer);
      case DenseBlock dense -> numbers(dense, layer);
    };
  }

  private byte[] numbers(DenseBlock dense, int layer) {
    long bytes = DenseBlock.bytesFor(held.groups().shape().ofLayers(1), Page.TOKENS, precision);
    ByteBuffer out = ByteBuffer.allocate(Math.toIntExact(bytes));
    dense.writeKeys(layer, Page.TOKENS, out);
    dense.writeValues(layer, Page.TOKENS, out);
    return out.array();
  }
}

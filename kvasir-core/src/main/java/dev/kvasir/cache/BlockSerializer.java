package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ColdBlocks;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Serializes a whole block. Quantized, or requantized as a cold block:
 *
 * <pre>
 * u32           position of the first token
 * u16           layers
 * u32 (layers)  bytes of each page
 *               serialized pages
 * </pre>
 *
 * Dense:
 *
 * <pre>
 * u32           position of the first token
 * u8            0 for 32-bit floats, 1 for halves, 2 for bfloat16
 *               keys of all layers, then values: layer | KV head | token | channel
 * </pre>
 *
 * With sliding-window layers:
 *
 * <pre>
 * u32           position of the first token
 * u8            0 for 32-bit floats, 1 for halves, 2 for bfloat16
 * u16           layers
 * u8 (layers)   0 for an evicted block, 1 for a page, 2 for dense numbers, 3 for a cold page
 * u32 (layers)  bytes of each
 *               serialized pages; of numbers keys, then values: KV head | token | channel
 * </pre>
 */
final class BlockSerializer {
  static final int QUANTIZED = 1;
  static final int DENSE = 2;
  static final int BY_LAYER = 3;
  static final int COLD = 4;

  static final int EVICTED = 0;
  static final int PAGE = 1;
  static final int NUMBERS = 2;
  static final int COLD_PAGE = 3;

  private static final Kernels KERNELS = new ScalarKernels();

  private final BlockTable blockTable;
  private final int block;
  private final int position;
  private final Precision precision;
  private final int layers;
  private final Optional<ColdBlocks> cold;

  /**
   * @param position position of the block's first token
   * @param cold how its pages are requantized; empty to store them as they are
   */
  BlockSerializer(
      BlockTable blockTable,
      int block,
      int position,
      Precision precision,
      Optional<ColdBlocks> cold) {
    this.blockTable = blockTable;
    this.block = block;
    this.position = position;
    this.precision = precision;
    this.layers = blockTable.groups().shape().layers();
    this.cold = cold;
  }

  byte[] bytes() {
    if (!blockTable.groups().retainAll()) {
      return byLayer();
    }
    return blockTable.isQuantized(block) ? quantized() : dense();
  }

  private byte[] quantized() {
    List<byte[]> serialized = new ArrayList<>();
    long bytes = Integer.BYTES + Short.BYTES;
    for (int layer = 0; layer < layers; layer++) {
      byte[] bytesOfLayer = serialize((QuantizedBlock) blockTable.get(layer, block), layer);
      bytes += Integer.BYTES + bytesOfLayer.length;
      serialized.add(bytesOfLayer);
    }
    return SnapshotHeader.BLOCK.wrap(
        isCold((QuantizedBlock) blockTable.get(0, block)) ? COLD : QUANTIZED,
        bytes,
        out -> {
          out.putInt(position).putShort((short) layers);
          serialized.forEach(bytesOfLayer -> out.putInt(bytesOfLayer.length));
          serialized.forEach(out::put);
        });
  }

  private boolean isCold(QuantizedBlock quantized) {
    return quantized.isCold() || cold.isPresent();
  }

  private byte[] serialize(QuantizedBlock quantized, int layer) {
    return quantized.isCold() || cold.isEmpty()
        ? quantized.page(layer).serialize()
        : serializeCold(quantized, layer);
  }

  private byte[] serializeCold(QuantizedBlock quantized, int layer) {
    CacheShape shape = blockTable.groups().shape().ofLayers(layer);
    int keysOfHead = Page.TOKENS * shape.keyDim();
    int valuesOfHead = Page.TOKENS * shape.storedValueDim();
    float[] keys = new float[Math.multiplyExact(shape.kvHeads(), keysOfHead)];
    float[] values = new float[Math.multiplyExact(shape.kvHeads(), valuesOfHead)];
    float[] scratch = new float[Math.max(keysOfHead, valuesOfHead)];
    for (int head = 0; head < shape.kvHeads(); head++) {
      quantized.view(layer).expandKeys(KERNELS, head, Page.TOKENS, scratch);
      System.arraycopy(scratch, 0, keys, head * keysOfHead, keysOfHead);
      if (valuesOfHead > 0) {
        quantized.view(layer).expandValues(KERNELS, head, Page.TOKENS, scratch);
        System.arraycopy(scratch, 0, values, head * valuesOfHead, valuesOfHead);
      }
    }
    return cold.get().serialize(layer, position, keys, values);
  }

  private byte[] dense() {
    long numbers = DenseBlock.bytesFor(blockTable.groups().shape(), Page.TOKENS, precision);
    return SnapshotHeader.BLOCK.wrap(
        DENSE,
        Integer.BYTES + 1 + numbers,
        out -> {
          out.putInt(position).put((byte) ResidualSnapshot.code(precision));
          writeNumbers(blockTable, block, Page.TOKENS, out);
        });
  }

  /** Writes the first tokens of a block that is dense in all layers: keys, then values. */
  static void writeNumbers(BlockTable blockTable, int block, int tokens, ByteBuffer out) {
    int layers = blockTable.groups().shape().layers();
    for (int layer = 0; layer < layers; layer++) {
      blockTable.dense(layer, block).writeKeys(layer, tokens, out);
    }
    for (int layer = 0; layer < layers; layer++) {
      blockTable.dense(layer, block).writeValues(layer, tokens, out);
    }
  }

  private byte[] byLayer() {
    List<byte[]> serialized = new ArrayList<>();
    long bytes = Integer.BYTES + 1 + Short.BYTES;
    for (int layer = 0; layer < layers; layer++) {
      byte[] bytesOfLayer = serializeLayer(layer);
      bytes += 1 + Integer.BYTES + bytesOfLayer.length;
      serialized.add(bytesOfLayer);
    }
    return SnapshotHeader.BLOCK.wrap(
        BY_LAYER,
        bytes,
        out -> {
          out.putInt(position)
              .put((byte) ResidualSnapshot.code(precision))
              .putShort((short) layers);
          for (int layer = 0; layer < layers; layer++) {
            out.put((byte) kind(layer));
          }
          serialized.forEach(bytesOfLayer -> out.putInt(bytesOfLayer.length));
          serialized.forEach(out::put);
        });
  }

  private int kind(int layer) {
    return switch (blockTable.get(layer, block)) {
      case null -> EVICTED;
      case QuantizedBlock quantized -> isCold(quantized) ? COLD_PAGE : PAGE;
      case DenseBlock dense -> NUMBERS;
    };
  }

  private byte[] serializeLayer(int layer) {
    return switch (blockTable.get(layer, block)) {
      case null -> new byte[0];
      case QuantizedBlock quantized -> serialize(quantized, layer);
      case DenseBlock dense -> numbers(dense, layer);
    };
  }

  private byte[] numbers(DenseBlock dense, int layer) {
    long bytes =
        DenseBlock.bytesFor(blockTable.groups().shape().ofLayers(layer), Page.TOKENS, precision);
    ByteBuffer out = ByteBuffer.allocate(Math.toIntExact(bytes));
    dense.writeKeys(layer, Page.TOKENS, out);
    dense.writeValues(layer, Page.TOKENS, out);
    return out.array();
  }
}

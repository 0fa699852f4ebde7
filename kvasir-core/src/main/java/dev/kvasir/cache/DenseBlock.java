package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.page.HalfRounding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Tokens whose vectors are stored as floating-point numbers.
 *
 * <pre>
 * layer | keys, then values | KV head | token | channel
 * bytes = layers * 2 * kvHeads * capacity * headDim * (2 or 4)
 * </pre>
 */
final class DenseBlock implements Block {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CacheShape shape;
  private final int capacity;
  private final MemoryPool pool;
  private final CountedArena arena;
  private final DenseMatrix rows; // one row a vector
  private final DenseRows[] layers;
  private final Holders holders = new Holders();

  /**
   * @param pool that its bytes have been taken from
   */
  DenseBlock(CacheShape shape, int capacity, Precision precision, MemoryPool pool) {
    this.shape = shape;
    this.capacity = capacity;
    this.pool = pool;
    this.arena = new CountedArena(pool, bytesFor(shape, capacity, precision));
    try {
      int count = Math.multiplyExact(2 * shape.layers() * shape.kvHeads(), capacity);
      MemorySegment bytes = arena.allocate(bytesFor(shape, capacity, precision));
      this.rows = new DenseMatrix(precision, count, shape.headDim(), bytes);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
    this.layers = new DenseRows[shape.layers()];
    for (int layer = 0; layer < layers.length; layer++) {
      layers[layer] = new DenseRows(rows, row(layer, 0, 0, 0), row(layer, 1, 0, 0), capacity);
    }
  }

  /**
   * A whole block with the first tokens of another one, as attention saw them.
   *
   * @param pool that its bytes have been taken from
   */
  static DenseBlock expanded(
      Kernels kernels,
      Block block,
      int tokens,
      CacheShape shape,
      Precision precision,
      MemoryPool pool) {
    DenseBlock dense = new DenseBlock(shape, KvCache.TOKENS_PER_PAGE, precision, pool);
    int headDim = shape.headDim();
    int vector = shape.kvHeads() * headDim;
    float[] head = new float[KvCache.TOKENS_PER_PAGE * headDim];
    float[] keys = new float[tokens * vector];
    float[] values = new float[tokens * vector];
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int h = 0; h < shape.kvHeads(); h++) {
        block.expandKeys(kernels, layer, h, tokens, head);
        spread(head, headDim, tokens, keys, h * headDim, vector);
        block.expandValues(kernels, layer, h, tokens, head);
        spread(head, headDim, tokens, values, h * headDim, vector);
      }
      for (int token = 0; token < tokens; token++) {
        dense.store(layer, token, token, keys, token * vector, values, token * vector);
      }
    }
    return dense;
  }

  /** From the vectors of one head to those of all, token by token. */
  private static void spread(
      float[] head, int headDim, int tokens, float[] all, int at, int stride) {
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(head, token * headDim, all, at + token * stride, headDim);
    }
  }

  DenseRows rows(int layer) {
    return layers[layer];
  }

  static long bytesFor(CacheShape shape, long tokens, Precision precision) {
    return tokens * shape.valuesPerToken() * precision.bytes();
  }

  /** Stores the vectors of all KV heads of a layer. */
  void store(
      int layer, int token, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    for (int head = 0; head < shape.kvHeads(); head++) {
      int channel = head * shape.headDim();
      storeVector("key", layer, head, position, row(layer, 0, head, token), keys, keysAt + channel);
      storeVector(
          "value", layer, head, position, row(layer, 1, head, token), values, valuesAt + channel);
    }
  }

  private void storeVector(
      String what, int layer, int head, int position, int row, float[] vector, int at) {
    long offset = rows.offset(row);
    for (int i = 0; i < shape.headDim(); i++) {
      if (!set(offset, i, vector[at + i])) {
        throw new InvalidInputException(
            "the %s of layer %d, head %d, position %d has a channel of %s; %s holds finite numbers only"
                .formatted(what, layer, head, position, vector[at + i], rows.precision()));
      }
    }
  }

  /** Answers whether the number stays finite as it is stored. */
  private boolean set(long offset, int i, float value) {
    return switch (rows.precision()) {
      case F32 -> {
        rows.data().set(FLOAT, offset + 4L * i, value);
        yield Float.isFinite(value);
      }
      case F16 -> {
        short half = Float.floatToFloat16(value);
        rows.data().set(SHORT, offset + 2L * i, half);
        yield (half & 0x7C00) != 0x7C00;
      }
      case BF16 -> {
        short brain = HalfRounding.brain(value);
        rows.data().set(SHORT, offset + 2L * i, brain);
        yield (brain & 0x7F80) != 0x7F80;
      }
    };
  }

  private int row(int layer, int keyOrValue, int head, int token) {
    return ((2 * layer + keyOrValue) * shape.kvHeads() + head) * capacity + token;
  }

  @Override
  public void expandKeys(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    kernels.expand(rows, row(layer, 0, kvHead, 0), tokens, out, 0);
  }

  @Override
  public void expandValues(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    kernels.expand(rows, row(layer, 1, kvHead, 0), tokens, out, 0);
  }

  /** All vectors of a layer: keys and values are (kvHeads, capacity, headDim). */
  void expandLayer(Kernels kernels, int layer, float[] keys, float[] values) {
    int count = shape.kvHeads() * capacity;
    kernels.expand(rows, row(layer, 0, 0, 0), count, keys, 0);
    kernels.expand(rows, row(layer, 1, 0, 0), count, values, 0);
  }

  /** A block of the same, whose bytes have been taken from the pool. */
  DenseBlock copy() {
    DenseBlock copy = new DenseBlock(shape, capacity, rows.precision(), pool);
    copy.rows.data().copyFrom(rows.data());
    return copy;
  }

  boolean isShared() {
    return holders.isShared();
  }

  long bytes() {
    return arena.bytes();
  }

  @Override
  public DenseBlock share() {
    holders.add();
    return this;
  }

  @Override
  public void release() {
    if (holders.remove()) {
      arena.close();
    }
  }
}

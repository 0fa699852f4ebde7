package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.SharedMapping;
import dev.kvasir.page.HalfRounding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A block whose vectors are stored as floating-point numbers, in the layers of a group.
 *
 * <pre>
 * keys, then values: layer | KV head | token | channel
 * bytes = layers * kvHeads * capacity * (keyDim + valueDim) * (2 or 4)
 * </pre>
 *
 * Where values are the first channels of keys, only keys are stored.
 */
final class DenseBlock implements Block {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final LayerGroup group;
  private final CacheShape shape; // of the group
  private final int capacity;
  private final MemoryPool pool;
  private final SharedArena memory;
  private final long bytes;
  private final DenseMatrix keys; // one vector per row
  private final DenseMatrix values; // the same rows, or the keys
  private final DenseRows[] layers;
  private final RefCount refCount = new RefCount();

  /**
   * @param pool the pool that its bytes were acquired from
   */
  DenseBlock(LayerGroup group, int capacity, Precision precision, MemoryPool pool) {
    this(
        group,
        capacity,
        precision,
        pool,
        new SharedArena(pool, bytesFor(group.shape(), capacity, precision)),
        memory -> memory.allocate(bytesFor(group.shape(), capacity, precision)));
  }

  /**
   * @param memory owned by the block from now on
   * @param numbers allocates its numbers in that memory
   */
  private DenseBlock(
      LayerGroup group,
      int capacity,
      Precision precision,
      MemoryPool pool,
      SharedArena memory,
      Function<SharedArena, MemorySegment> numbers) {
    this.group = group;
    this.shape = group.shape();
    this.capacity = capacity;
    this.pool = pool;
    this.memory = memory;
    this.bytes = bytesFor(shape, capacity, precision);
    try {
      int count = Math.multiplyExact(shape.layers() * shape.kvHeads(), capacity);
      MemorySegment all = numbers.apply(memory);
      long keyBytes = (long) count * shape.keyDim() * precision.bytes();
      this.keys = new DenseMatrix(precision, count, shape.keyDim(), all.asSlice(0, keyBytes));
      this.values =
          shape.hasValuesInKeys()
              ? keys
              : new DenseMatrix(precision, count, shape.valueDim(), all.asSlice(keyBytes));
    } catch (RuntimeException | Error e) {
      memory.release();
      throw e;
    }
    this.layers = new DenseRows[shape.layers()];
    for (int index = 0; index < layers.length; index++) {
      int first = row(group.layer(index), 0, 0);
      layers[index] = new DenseRows(keys, values, shape.valueDim(), first, capacity);
    }
  }

  /** Creates a whole block of all layers in mapped memory; its bytes count in the pool too. */
  static DenseBlock mapped(
      LayerGroup group,
      Precision precision,
      MemoryPool pool,
      SharedMapping mapping,
      MemorySegment numbers) {
    return new DenseBlock(
        group,
        KvCache.TOKENS_PER_PAGE,
        precision,
        pool,
        new SharedArena(pool, mapping),
        memory -> memory.adopt(numbers));
  }

  /** Stores the first tokens of another block, as attention used them. */
  void storeExpanded(Kernels kernels, Block block, int tokens) {
    int keyDim = shape.keyDim();
    int valueDim = shape.storedValueDim();
    int keyStride = shape.kvHeads() * keyDim;
    int valueStride = shape.kvHeads() * valueDim;
    float[] head = new float[KvCache.TOKENS_PER_PAGE * Math.max(keyDim, valueDim)];
    float[] keyVectors = new float[tokens * keyStride];
    float[] valueVectors = new float[tokens * valueStride];
    for (int index = 0; index < group.count(); index++) {
      int layer = group.layer(index);
      for (int h = 0; h < shape.kvHeads(); h++) {
        block.view(layer).expandKeys(kernels, h, tokens, head);
        spread(head, keyDim, tokens, keyVectors, h * keyDim, keyStride);
        if (valueDim > 0) {
          block.view(layer).expandValues(kernels, h, tokens, head);
          spread(head, valueDim, tokens, valueVectors, h * valueDim, valueStride);
        }
      }
      for (int token = 0; token < tokens; token++) {
        int k = token * keyStride;
        store(layer, token, token, keyVectors, k, valueVectors, token * valueStride);
      }
    }
  }

  /** Copies the vectors of one head into those of all heads, token by token. */
  static void spread(float[] head, int headDim, int tokens, float[] all, int at, int stride) {
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(head, token * headDim, all, at + token * stride, headDim);
    }
  }

  @Override
  public DenseRows view(int layer) {
    return layers[group.indexOf(layer)];
  }

  static long bytesFor(CacheShape shape, long tokens, Precision precision) {
    return tokens * shape.valuesPerToken() * precision.bytes();
  }

  /** Stores the vectors of all KV heads of a layer. */
  void store(
      int layer,
      int token,
      int position,
      float[] keyVectors,
      int keysAt,
      float[] valueVectors,
      int valuesAt) {
    for (int head = 0; head < shape.kvHeads(); head++) {
      int row = row(layer, head, token);
      int badKey = store(keys, row, keyVectors, keysAt + head * shape.keyDim());
      if (badKey >= 0) {
        throw notFinite("key", layer, head, position, keyVectors[badKey]);
      }
      int at = valuesAt + head * shape.valueDim();
      int badValue = shape.hasValuesInKeys() ? -1 : store(values, row, valueVectors, at);
      if (badValue >= 0) {
        throw notFinite("value", layer, head, position, valueVectors[badValue]);
      }
    }
  }

  /** Returns the index of the first number that is not finite once stored; -1 for none. */
  private static int store(DenseMatrix rows, int row, float[] vector, int at) {
    long offset = rows.offset(row);
    for (int i = 0; i < rows.columns(); i++) {
      if (!set(rows, offset, i, vector[at + i])) {
        return at + i;
      }
    }
    return -1;
  }

  private InvalidInputException notFinite(
      String what, int layer, int head, int position, float value) {
    return new InvalidInputException(
        "the %s of layer %d, head %d, position %d has a channel of %s; %s holds finite numbers only"
            .formatted(what, layer, head, position, value, keys.precision()));
  }

  /** Returns whether the number is finite once stored. */
  private static boolean set(DenseMatrix rows, long offset, int i, float value) {
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
        short brain = HalfRounding.toBfloat16(value);
        rows.data().set(SHORT, offset + 2L * i, brain);
        yield (brain & 0x7F80) != 0x7F80;
      }
    };
  }

  private int row(int layer, int head, int token) {
    return (group.indexOf(layer) * shape.kvHeads() + head) * capacity + token;
  }

  /**
   * Writes all vectors of a layer: (kvHeads, capacity, keyDim) and (kvHeads, capacity, valueDim).
   */
  void expandLayer(Kernels kernels, int layer, float[] keyVectors, float[] valueVectors) {
    int count = shape.kvHeads() * capacity;
    kernels.expand(keys, row(layer, 0, 0), count, keyVectors, 0);
    if (!shape.hasValuesInKeys()) {
      kernels.expand(values, row(layer, 0, 0), count, valueVectors, 0);
    }
  }

  /**
   * Writes a layer's keys of the first tokens as they are stored.
   *
   * <pre>KV head | token | channel</pre>
   */
  void writeKeys(int layer, int tokens, ByteBuffer out) {
    eachHead(keys, layer, tokens, numbers -> out.put(numbers.asByteBuffer()));
  }

  /** Writes a layer's values of the first tokens, if values are stored. */
  void writeValues(int layer, int tokens, ByteBuffer out) {
    if (!shape.hasValuesInKeys()) {
      eachHead(values, layer, tokens, numbers -> out.put(numbers.asByteBuffer()));
    }
  }

  /**
   * Reads what {@link #writeKeys} wrote: finite numbers, since {@link #store} accepts no others.
   */
  void readKeys(int layer, int tokens, ByteBuffer in) {
    eachHead(keys, layer, tokens, numbers -> fill(numbers, in));
  }

  /** Reads what {@link #writeValues} wrote. */
  void readValues(int layer, int tokens, ByteBuffer in) {
    if (!shape.hasValuesInKeys()) {
      eachHead(values, layer, tokens, numbers -> fill(numbers, in));
    }
  }

  private void eachHead(DenseMatrix rows, int layer, int tokens, Consumer<MemorySegment> numbers) {
    long rowBytes = rows.offset(1);
    for (int head = 0; head < shape.kvHeads(); head++) {
      numbers.accept(rows.data().asSlice(rows.offset(row(layer, head, 0)), tokens * rowBytes));
    }
  }

  private static void fill(MemorySegment numbers, ByteBuffer in) {
    int bytes = (int) numbers.byteSize();
    numbers.copyFrom(MemorySegment.ofBuffer(in.slice(in.position(), bytes)));
    in.position(in.position() + bytes);
  }

  /** Returns a copy, whose bytes must have been acquired from the pool. */
  DenseBlock copy() {
    DenseBlock copy = new DenseBlock(group, capacity, keys.precision(), pool);
    copy.keys.data().copyFrom(keys.data());
    if (!shape.hasValuesInKeys()) {
      copy.values.data().copyFrom(values.data());
    }
    return copy;
  }

  /**
   * Returns whether writing requires a copy: other sequences share the block, or it lies in a file.
   */
  boolean isShared() {
    return refCount.isShared() || memory.isMapped();
  }

  long bytes() {
    return bytes;
  }

  @Override
  public DenseBlock share() {
    refCount.retain();
    return this;
  }

  @Override
  public void release() {
    if (refCount.release()) {
      memory.release();
    }
  }
}

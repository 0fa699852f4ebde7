package dev.kvasir.codec.uniform;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.ObjectPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/**
 * A layer's keys and values as matrices of codes, head after head. Each head may have its own
 * shape. All shapes have the same number of tokens: those of a page, or fewer for a slice of a
 * {@link SlicedPage}.
 */
public final class UniformPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 1;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ObjectPool<CodeScratch> SCRATCH = new ObjectPool<>(CodeScratch::new);

  private final List<HeadShape> shapes;
  private final OperandPrecision operandPrecision;
  private final int tokens;
  private final long[] offsets; // of heads, and the end
  private final SharedArena memory;
  private final MemorySegment bytes;

  /**
   * Creates a page on existing bytes.
   *
   * @param bytes in {@code memory}, as many as the shapes require
   */
  private UniformPage(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      MemorySegment bytes) {
    this.shapes = List.copyOf(shapes);
    this.operandPrecision = operandPrecision;
    this.tokens = shapes.getFirst().tokens();
    this.offsets = new long[shapes.size() + 1];
    for (int head = 0; head < shapes.size(); head++) {
      offsets[head + 1] = offsets[head] + shapes.get(head).bytes();
    }
    this.bytes = bytes;
    this.memory = memory.retain();
  }

  /**
   * Quantizes a layer's vectors in the page's own memory, with channels in order.
   *
   * @param keys (kvHeads, 128, keyDim)
   * @param values (kvHeads, 128, valueDim)
   */
  public static UniformPage quantize(
      List<HeadShape> shapes, OperandPrecision operandPrecision, float[] keys, float[] values) {
    return quantize(shapes, operandPrecision, null, keys, values);
  }

  /** Quantizes a layer's vectors in the page's own memory, with a channel order. */
  public static UniformPage quantize(
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      int[][] orders,
      float[] keys,
      float[] values) {
    SharedArena own = new SharedArena();
    try {
      return quantize(own, shapes, operandPrecision, orders, keys, values);
    } finally {
      own.release();
    }
  }

  /**
   * Quantizes a layer's vectors.
   *
   * @param memory the memory of the page
   * @param operandPrecision how attention multiplies with the codes
   * @param orders the channels of each head in the order of its key matrices; null if shapes have
   *     no order
   * @param keys (kvHeads, 128, keyDim)
   * @param values (kvHeads, 128, valueDim); of any length if values are part of keys
   */
  public static UniformPage quantize(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      int[][] orders,
      float[] keys,
      float[] values) {
    return quantize(memory, shapes, operandPrecision, orders, keys, values, 0);
  }

  /**
   * Quantizes those of a layer's vectors that belong to a slice.
   *
   * @param first first token of the slice, which has as many as the shapes
   */
  public static UniformPage quantize(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      int[][] orders,
      float[] keys,
      float[] values,
      int first) {
    MemorySegment bytes = memory.allocate(shapes.stream().mapToLong(HeadShape::bytes).sum());
    UniformPage page = new UniformPage(memory, shapes, operandPrecision, bytes);
    CodeScratch scratch = SCRATCH.acquire();
    try {
      int keysAt = 0;
      int valuesAt = 0;
      for (int head = 0; head < shapes.size(); head++) {
        HeadShape shape = shapes.get(head);
        if (shape.ordered()) {
          page.putOrder(head, orders[head]);
        }
        page.quantizeKeys(scratch, head, keys, keysAt + first * shape.keyDim());
        if (!shape.hasValuesInKeys()) {
          page.quantizeValues(scratch, head, values, valuesAt + first * shape.valueDim());
        }
        keysAt += TOKENS * shape.keyDim();
        valuesAt += TOKENS * shape.valueDim();
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    } finally {
      SCRATCH.release(scratch);
    }
  }

  /**
   * Creates a page from bytes in the layout of the shapes.
   *
   * @param memory receives a copy, unless it is the mapped file that contains the bytes
   */
  public static UniformPage of(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      MemorySegment source) {
    return new UniformPage(memory, shapes, operandPrecision, memory.adopt(source));
  }

  /**
   * Reads a page written by {@link #serialize}.
   *
   * @param kvHeads the required number of KV heads
   * @param possible maps a stored shape to the one the cache would use instead
   */
  public static UniformPage deserialize(
      SharedArena memory,
      Snapshot snapshot,
      int kvHeads,
      UnaryOperator<HeadShape> possible,
      OperandPrecision operandPrecision) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        KIND,
        in -> UniformPageSerializer.read(memory, in, kvHeads, possible, operandPrecision));
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND, UniformPageSerializer.bytes(this), out -> UniformPageSerializer.write(this, out));
  }

  private void putOrder(int head, int[] order) {
    if (order.length != shapes.get(head).keyDim()
        || !isPermutation(order.length, index -> order[index])) {
      throw new IllegalArgumentException("the order of channels is no permutation");
    }
    boolean wide = shapes.get(head).hasWideOrder();
    for (int i = 0; i < order.length; i++) {
      if (wide) {
        bytes.set(SHORT, offsets[head] + (long) Short.BYTES * i, (short) order[i]);
      } else {
        bytes.set(ValueLayout.JAVA_BYTE, offsets[head] + i, (byte) order[i]);
      }
    }
  }

  /** Returns whether the stored channel order of a head is a permutation. */
  boolean hasValidOrder(int head) {
    return isPermutation(shapes.get(head).keyDim(), index -> channelAt(head, index));
  }

  private static boolean isPermutation(int count, IntUnaryOperator channelAt) {
    boolean[] seen = new boolean[count];
    for (int index = 0; index < count; index++) {
      int channel = channelAt.applyAsInt(index);
      if (channel < 0 || channel >= count || seen[channel]) {
        return false;
      }
      seen[channel] = true;
    }
    return true;
  }

  /** Returns the channel at an index of a head's key order. */
  public int channelAt(int head, int index) {
    HeadShape shape = shapes.get(head);
    return shape.ordered() ? orderedAt(head, index, shape.hasWideOrder()) : index;
  }

  private int orderedAt(int head, int index, boolean wide) {
    return wide
        ? Short.toUnsignedInt(bytes.get(SHORT, offsets[head] + (long) Short.BYTES * index))
        : Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, offsets[head] + index));
  }

  /** Reads the key order of a head whose shape has one. // (keyDim), set */
  void copyOrder(int head, int[] order) {
    int count = shapes.get(head).keyDim();
    boolean wide = shapes.get(head).hasWideOrder();
    for (int index = 0; index < count; index++) {
      order[index] = orderedAt(head, index, wide);
    }
  }

  private void quantizeKeys(CodeScratch scratch, int head, float[] keys, int at) {
    HeadShape shape = shapes.get(head);
    int keyDim = shape.keyDim();
    float[] numbers = scratch.values(keyDim * tokens);
    long offset = keysOffset(head);
    int index = 0;
    for (CodeMatrix codes : shape.keys()) {
      for (int row = 0; row < codes.rows(); row++) {
        int channel = channelAt(head, index + row);
        for (int token = 0; token < tokens; token++) {
          numbers[row * tokens + token] = keys[at + token * keyDim + channel];
        }
      }
      codes.quantize(scratch, numbers, bytes, offset);
      index += codes.rows();
      offset += codes.bytes();
    }
  }

  private void quantizeValues(CodeScratch scratch, int head, float[] values, int at) {
    int count = tokens * shapes.get(head).valueDim();
    float[] numbers = scratch.values(count);
    System.arraycopy(values, at, numbers, 0, count);
    shapes.get(head).values().quantize(scratch, numbers, bytes, valuesOffset(head));
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int count, float[] out) {
    workspace.kernels().dots(); // selects the kernels for decoding early
    dequantizeKeys(workspace, kvHead, count, shapes.get(kvHead).keyDim(), out, 0);
  }

  /**
   * Dequantizes the first channels of keys.
   *
   * @param width number of channels of each key to write
   * @param out (count, width) from {@code at} on, set
   */
  void dequantizeKeys(
      PageWorkspace workspace, int kvHead, int count, int width, float[] out, int at) {
    HeadShape shape = shapes.get(kvHead);
    float[] numbers = workspace.codes().values(shape.keyDim() * tokens);
    long offset = keysOffset(kvHead);
    int index = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeMatrix codes = shape.keys().get(i);
      codes.dequantize(workspace.codes(), bytes, offset, numbers);
      for (int row = 0; row < codes.rows(); row++) {
        int channel = channelAt(kvHead, index + row);
        for (int token = 0; channel < width && token < count; token++) {
          out[at + token * width + channel] = numbers[row * tokens + token];
        }
      }
      index += codes.rows();
      offset += codes.bytes();
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int count, float[] out) {
    dequantizeValues(workspace, kvHead, count, out, 0);
  }

  /** Writes the first values from {@code at} on: (count, valueDim). */
  void dequantizeValues(PageWorkspace workspace, int kvHead, int count, float[] out, int at) {
    HeadShape shape = shapes.get(kvHead);
    if (shape.hasValuesInKeys()) {
      dequantizeKeys(workspace, kvHead, count, shape.valueDim(), out, at);
      return;
    }
    float[] numbers = workspace.codes().values(tokens * shape.valueDim());
    shape.values().dequantize(workspace.codes(), bytes, valuesOffset(kvHead), numbers);
    System.arraycopy(numbers, 0, out, at, count * shape.valueDim());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(UniformReader.KIND);
  }

  boolean usesExactOperands() {
    return operandPrecision == OperandPrecision.EXACT;
  }

  public HeadShape shape(int kvHead) {
    return shapes.get(kvHead);
  }

  public List<HeadShape> shapes() {
    return shapes;
  }

  /** Returns the offset of the first key matrix of a head; the others follow it. */
  public long keysOffset(int kvHead) {
    return offsets[kvHead] + shapes.get(kvHead).orderBytes();
  }

  /** Returns the offset of a head's value matrix. */
  public long valuesOffset(int kvHead) {
    return offsets[kvHead + 1] - shapes.get(kvHead).values().bytes();
  }

  /** Returns all bytes of the page. */
  public MemorySegment bytes() {
    return bytes;
  }

  @Override
  public long codeBytes() {
    return shapes.stream().mapToLong(HeadShape::codeBytes).sum();
  }

  @Override
  public long scaleBytes() {
    return bytes.byteSize() - codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}

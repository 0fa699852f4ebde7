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
 * A layer's keys and values in grids of codes, head after head; each head may have a shape of its
 * own.
 */
public final class UniformPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 1;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Rooms to pack in. */
  private static final ObjectPool<CodeScratch> SCRATCH = new ObjectPool<>(CodeScratch::new);

  private final List<HeadShape> shapes;
  private final OperandPrecision operandPrecision;
  private final long[] offsets; // of heads, and the end
  private final SharedArena memory;
  private final MemorySegment bytes;

  /**
   * @param bytes of the memory, as many as the shapes take
   */
  private UniformPage(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      MemorySegment bytes) {
    this.shapes = List.copyOf(shapes);
    this.operandPrecision = operandPrecision;
    this.offsets = new long[shapes.size() + 1];
    for (int head = 0; head < shapes.size(); head++) {
      offsets[head + 1] = offsets[head] + shapes.get(head).bytes();
    }
    this.bytes = bytes;
    this.memory = memory.retain();
  }

  /**
   * Packs a layer's vectors with their channels in order, in memory of the page's own.
   *
   * @param keys (kvHeads, 128, keyDim)
   * @param values (kvHeads, 128, valueDim)
   */
  public static UniformPage quantize(
      List<HeadShape> shapes, OperandPrecision operandPrecision, float[] keys, float[] values) {
    return quantize(shapes, operandPrecision, null, keys, values);
  }

  /** The same with an order of channels. */
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
   * Packs a layer's vectors.
   *
   * @param memory that the page lies in
   * @param lookups how attention is to read it
   * @param orders the channels of each head in the order of its grids of keys; null for heads whose
   *     shape has none
   * @param keys (kvHeads, 128, keyDim)
   * @param values (kvHeads, 128, valueDim); of any length where they are part of keys
   */
  public static UniformPage quantize(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      int[][] orders,
      float[] keys,
      float[] values) {
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
        page.quantizeKeys(scratch, head, keys, keysAt);
        if (!shape.hasValuesInKeys()) {
          page.quantizeValues(scratch, head, values, valuesAt);
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
   * A page of bytes that lie as the shapes say.
   *
   * @param memory that they are copied to, unless it lies in a file that they are of
   */
  public static UniformPage of(
      SharedArena memory,
      List<HeadShape> shapes,
      OperandPrecision operandPrecision,
      MemorySegment source) {
    return new UniformPage(memory, shapes, operandPrecision, memory.adopt(source));
  }

  /**
   * Reads what {@link #form} wrote.
   *
   * @param kvHeads that there must be
   * @param possible the shape that a cache would give to what was found in its place
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
        || !isPermutation(order.length, place -> order[place])) {
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

  /** Whether a head's order of channels, as stored, names each of them once. */
  boolean hasValidOrder(int head) {
    return isPermutation(shapes.get(head).keyDim(), place -> channelAt(head, place));
  }

  private static boolean isPermutation(int count, IntUnaryOperator channelAt) {
    boolean[] seen = new boolean[count];
    for (int place = 0; place < count; place++) {
      int channel = channelAt.applyAsInt(place);
      if (channel < 0 || channel >= count || seen[channel]) {
        return false;
      }
      seen[channel] = true;
    }
    return true;
  }

  /** The channel that stands at a place in the order of a head's keys. */
  public int channelAt(int head, int place) {
    HeadShape shape = shapes.get(head);
    return shape.ordered() ? orderedAt(head, place, shape.hasWideOrder()) : place;
  }

  private int orderedAt(int head, int place, boolean wide) {
    return wide
        ? Short.toUnsignedInt(bytes.get(SHORT, offsets[head] + (long) Short.BYTES * place))
        : Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, offsets[head] + place));
  }

  /** The order of a head's keys, where its shape has one. // (keyDim), set */
  void copyOrder(int head, int[] order) {
    int count = shapes.get(head).keyDim();
    boolean wide = shapes.get(head).hasWideOrder();
    for (int place = 0; place < count; place++) {
      order[place] = orderedAt(head, place, wide);
    }
  }

  private void quantizeKeys(CodeScratch scratch, int head, float[] keys, int at) {
    HeadShape shape = shapes.get(head);
    int keyDim = shape.keyDim();
    float[] grid = scratch.values(keyDim * TOKENS);
    long offset = keysOffset(head);
    int place = 0;
    for (CodeMatrix codes : shape.keys()) {
      for (int entry = 0; entry < codes.rows(); entry++) {
        int channel = channelAt(head, place + entry);
        for (int token = 0; token < TOKENS; token++) {
          grid[entry * TOKENS + token] = keys[at + token * keyDim + channel];
        }
      }
      codes.quantize(scratch, grid, bytes, offset);
      place += codes.rows();
      offset += codes.bytes();
    }
  }

  private void quantizeValues(CodeScratch scratch, int head, float[] values, int at) {
    int count = TOKENS * shapes.get(head).valueDim();
    float[] grid = scratch.values(count);
    System.arraycopy(values, at, grid, 0, count);
    shapes.get(head).values().quantize(scratch, grid, bytes, valuesOffset(head));
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    workspace.kernels().dots(); // what tokens after the prompt need is tried meanwhile
    dequantizeKeys(workspace, kvHead, tokens, shapes.get(kvHead).keyDim(), out);
  }

  /**
   * @param width channels of a key from the first on that are wanted
   * @param out (tokens, width), set
   */
  private void dequantizeKeys(
      PageWorkspace workspace, int kvHead, int tokens, int width, float[] out) {
    HeadShape shape = shapes.get(kvHead);
    float[] grid = workspace.codes().values(shape.keyDim() * TOKENS);
    long offset = keysOffset(kvHead);
    int place = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeMatrix codes = shape.keys().get(i);
      codes.dequantize(workspace.codes(), bytes, offset, grid);
      for (int entry = 0; entry < codes.rows(); entry++) {
        int channel = channelAt(kvHead, place + entry);
        for (int token = 0; channel < width && token < tokens; token++) {
          out[token * width + channel] = grid[entry * TOKENS + token];
        }
      }
      place += codes.rows();
      offset += codes.bytes();
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    HeadShape shape = shapes.get(kvHead);
    if (shape.hasValuesInKeys()) {
      dequantizeKeys(workspace, kvHead, tokens, shape.valueDim(), out);
      return;
    }
    float[] grid = workspace.codes().values(TOKENS * shape.valueDim());
    shape.values().dequantize(workspace.codes(), bytes, valuesOffset(kvHead), grid);
    System.arraycopy(grid, 0, out, 0, tokens * shape.valueDim());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(UniformReader.KIND);
  }

  boolean usesExactOperands() {
    return operandPrecision == OperandPrecision.EXACT;
  }

  /** How attention reads it. */
  public OperandPrecision lookups() {
    return operandPrecision;
  }

  public HeadShape shape(int kvHead) {
    return shapes.get(kvHead);
  }

  public List<HeadShape> shapes() {
    return shapes;
  }

  /** Where the first grid of a head's keys begins; the others follow it. */
  public long keysOffset(int kvHead) {
    return offsets[kvHead] + shapes.get(kvHead).orderBytes();
  }

  /** Where a head's grid of values begins. */
  public long valuesOffset(int kvHead) {
    return offsets[kvHead + 1] - shapes.get(kvHead).values().bytes();
  }

  /** All of it, to compute on. */
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

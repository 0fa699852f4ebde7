package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.Spares;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.CodeRoom;
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
  private static final Spares<CodeRoom> ROOMS = new Spares<>(CodeRoom::new);

  private final List<HeadShape> shapes;
  private final Lookups lookups;
  private final long[] offsets; // of heads, and the end
  private final SharedArena memory;
  private final MemorySegment bytes;

  /**
   * @param bytes of the memory, as many as the shapes take
   */
  private UniformPage(
      SharedArena memory, List<HeadShape> shapes, Lookups lookups, MemorySegment bytes) {
    this.shapes = List.copyOf(shapes);
    this.lookups = lookups;
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
  public static UniformPage pack(
      List<HeadShape> shapes, Lookups lookups, float[] keys, float[] values) {
    return pack(shapes, lookups, null, keys, values);
  }

  /** The same with an order of channels. */
  public static UniformPage pack(
      List<HeadShape> shapes, Lookups lookups, int[][] orders, float[] keys, float[] values) {
    SharedArena own = new SharedArena();
    try {
      return pack(own, shapes, lookups, orders, keys, values);
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
  public static UniformPage pack(
      SharedArena memory,
      List<HeadShape> shapes,
      Lookups lookups,
      int[][] orders,
      float[] keys,
      float[] values) {
    MemorySegment bytes = memory.allocate(shapes.stream().mapToLong(HeadShape::bytes).sum());
    UniformPage page = new UniformPage(memory, shapes, lookups, bytes);
    CodeRoom room = ROOMS.take();
    try {
      int keysAt = 0;
      int valuesAt = 0;
      for (int head = 0; head < shapes.size(); head++) {
        HeadShape shape = shapes.get(head);
        if (shape.ordered()) {
          page.putOrder(head, orders[head]);
        }
        page.packKeys(room, head, keys, keysAt);
        if (!shape.hasValuesInKeys()) {
          page.packValues(room, head, values, valuesAt);
        }
        keysAt += TOKENS * shape.keyDim();
        valuesAt += TOKENS * shape.valueDim();
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    } finally {
      ROOMS.giveBack(room);
    }
  }

  /**
   * A page of bytes that lie as the shapes say.
   *
   * @param memory that they are copied to, unless it lies in a file that they are of
   */
  public static UniformPage of(
      SharedArena memory, List<HeadShape> shapes, Lookups lookups, MemorySegment source) {
    return new UniformPage(memory, shapes, lookups, memory.keep(source));
  }

  /**
   * Reads what {@link #form} wrote.
   *
   * @param kvHeads that there must be
   * @param possible the shape that a cache would give to what was found in its place
   */
  public static UniformPage read(
      SharedArena memory,
      Form form,
      int kvHeads,
      UnaryOperator<HeadShape> possible,
      Lookups lookups) {
    return Envelope.PAGE.open(
        form, KIND, in -> UniformForm.read(memory, in, kvHeads, possible, lookups));
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(KIND, UniformForm.bytes(this), out -> UniformForm.write(this, out));
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
  boolean hasWholeOrder(int head) {
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

  private void packKeys(CodeRoom room, int head, float[] keys, int at) {
    HeadShape shape = shapes.get(head);
    int keyDim = shape.keyDim();
    float[] grid = room.grid(keyDim * TOKENS);
    long offset = keysOffset(head);
    int place = 0;
    for (CodeGrid codes : shape.keys()) {
      for (int entry = 0; entry < codes.entries(); entry++) {
        int channel = channelAt(head, place + entry);
        for (int token = 0; token < TOKENS; token++) {
          grid[entry * TOKENS + token] = keys[at + token * keyDim + channel];
        }
      }
      codes.pack(room, grid, bytes, offset);
      place += codes.entries();
      offset += codes.bytes();
    }
  }

  private void packValues(CodeRoom room, int head, float[] values, int at) {
    int count = TOKENS * shapes.get(head).valueDim();
    float[] grid = room.grid(count);
    System.arraycopy(values, at, grid, 0, count);
    shapes.get(head).values().pack(room, grid, bytes, valuesOffset(head));
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    room.kernels().dots(); // what tokens after the prompt need is tried meanwhile
    expandKeys(room, kvHead, tokens, shapes.get(kvHead).keyDim(), out);
  }

  /**
   * @param width channels of a key from the first on that are wanted
   * @param out (tokens, width), set
   */
  private void expandKeys(PageRoom room, int kvHead, int tokens, int width, float[] out) {
    HeadShape shape = shapes.get(kvHead);
    float[] grid = room.codes().grid(shape.keyDim() * TOKENS);
    long offset = keysOffset(kvHead);
    int place = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeGrid codes = shape.keys().get(i);
      codes.expand(room.codes(), bytes, offset, grid);
      for (int entry = 0; entry < codes.entries(); entry++) {
        int channel = channelAt(kvHead, place + entry);
        for (int token = 0; channel < width && token < tokens; token++) {
          out[token * width + channel] = grid[entry * TOKENS + token];
        }
      }
      place += codes.entries();
      offset += codes.bytes();
    }
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    HeadShape shape = shapes.get(kvHead);
    if (shape.hasValuesInKeys()) {
      expandKeys(room, kvHead, tokens, shape.valueDim(), out);
      return;
    }
    float[] grid = room.codes().grid(TOKENS * shape.valueDim());
    shape.values().expand(room.codes(), bytes, valuesOffset(kvHead), grid);
    System.arraycopy(grid, 0, out, 0, tokens * shape.valueDim());
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(UniformReader.KIND);
  }

  boolean isExact() {
    return lookups == Lookups.EXACT;
  }

  /** How attention reads it. */
  public Lookups lookups() {
    return lookups;
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

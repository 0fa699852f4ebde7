package dev.kvasir.cache;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Keys and values in half precision: the cache that others are measured against.
 *
 * <pre>
 * page: layer | keys, then values | KV head | token 0..127 | channel   (f16)
 * pageBytes = layers * 2 * kvHeads * 128 * headDim * 2
 * </pre>
 *
 * A page holds its tokens for all layers and is taken when its first token comes.
 */
public final class HalfCache implements KvCache {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private record Page(CountedArena arena, MemorySegment bytes) {}

  private final CacheShape shape;
  private final List<Page> pages = new ArrayList<>();
  private final long headBytes;
  private final long layerBytes;
  private int length;
  private boolean closed;

  public HalfCache(CacheShape shape) {
    this.shape = shape;
    this.headBytes = (long) TOKENS_PER_PAGE * shape.headDim() * Short.BYTES;
    this.layerBytes = 2 * shape.kvHeads() * headBytes;
  }

  /** Bytes that {@code tokens} positions will take. */
  public static long bytesFor(CacheShape shape, long tokens) {
    long pages = Math.ceilDiv(tokens, TOKENS_PER_PAGE);
    return pages * TOKENS_PER_PAGE * shape.valuesPerToken() * Short.BYTES;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void reserve(int wanted) {
    checkOpen();
    while (reserved() < wanted) {
      pages.add(newPage());
    }
  }

  private Page newPage() {
    CountedArena arena = new CountedArena();
    try {
      return new Page(arena, arena.allocate(shape.layers() * layerBytes));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  private int reserved() {
    return pages.size() * TOKENS_PER_PAGE;
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    checkOpen();
    if (position < 0 || position >= reserved()) {
      throw new IllegalArgumentException(
          "position is %d; reserved are %d".formatted(position, reserved()));
    }
    MemorySegment page = pages.get(position / TOKENS_PER_PAGE).bytes();
    int token = position % TOKENS_PER_PAGE;
    for (int head = 0; head < shape.kvHeads(); head++) {
      int channel = head * shape.headDim();
      store(page, keysOffset(layer, head), token, keys, keysAt + channel);
      store(page, valuesOffset(layer, head), token, values, valuesAt + channel);
    }
  }

  private void store(MemorySegment page, long head, int token, float[] vector, int at) {
    long offset = head + (long) token * shape.headDim() * Short.BYTES;
    for (int i = 0; i < shape.headDim(); i++) {
      page.set(HALF, offset + 2L * i, Float.floatToFloat16(vector[at + i]));
    }
  }

  @Override
  public void advance(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > reserved()) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d".formatted(length + positions, reserved()));
    }
    length += positions;
  }

  @Override
  public void truncate(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    length = wanted;
    while (pages.size() > Math.ceilDiv(wanted, TOKENS_PER_PAGE)) {
      pages.removeLast().arena().close();
    }
  }

  @Override
  public void expandKeys(
      Kernels kernels, int layer, int kvHead, int page, int tokens, float[] out) {
    expand(kernels, page, keysOffset(layer, kvHead), tokens, out);
  }

  @Override
  public void expandValues(
      Kernels kernels, int layer, int kvHead, int page, int tokens, float[] out) {
    expand(kernels, page, valuesOffset(layer, kvHead), tokens, out);
  }

  private void expand(Kernels kernels, int page, long offset, int tokens, float[] out) {
    checkOpen();
    kernels.expandHalf(pages.get(page).bytes(), offset, out, 0, tokens * shape.headDim());
  }

  private long keysOffset(int layer, int head) {
    return layer * layerBytes + head * headBytes;
  }

  private long valuesOffset(int layer, int head) {
    return keysOffset(layer, head) + shape.kvHeads() * headBytes;
  }

  @Override
  public long bytes() {
    return pages.stream().mapToLong(page -> page.arena().bytes()).sum();
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this cache is closed");
    }
  }

  @Override
  public void close() {
    closed = true;
    length = 0;
    pages.forEach(page -> page.arena().close());
    pages.clear();
  }
}

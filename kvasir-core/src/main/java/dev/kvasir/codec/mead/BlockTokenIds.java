package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The token ids of a block, shared by the pages of all its layers. They count as bytes of the first
 * layer's page.
 *
 * <pre>u32 id of each token</pre>
 */
final class BlockTokenIds {
  static final int BITS_PER_TOKEN = Integer.SIZE;
  static final int BYTES = Page.TOKENS * Integer.BYTES;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int position;
  private final SharedArena memory;
  private final MemorySegment ids;

  BlockTokenIds(SharedArena memory, int position) {
    this.position = position;
    this.ids = memory.allocate(BYTES);
    this.memory = memory.retain();
  }

  /** Returns the position of the first token. */
  int position() {
    return position;
  }

  int id(int token) {
    return ids.get(INT, (long) Integer.BYTES * token);
  }

  /**
   * @param out (tokens of a page), set
   */
  void read(int[] out) {
    MemorySegment.copy(ids, INT, 0, out, 0, Page.TOKENS);
  }

  void set(int token, int id) {
    ids.set(INT, (long) Integer.BYTES * token, id);
  }

  MemorySegment bytes() {
    return ids;
  }

  BlockTokenIds retain() {
    memory.retain();
    return this;
  }

  void release() {
    memory.release();
  }
}

package dev.kvasir.cuda;

import java.util.Arrays;

/**
 * The pages of a sequence on a device. Tokens are halves at first; blocks of 128, as the host packs
 * them, are packed when a window of tokens follows them.
 */
public final class DeviceSequence implements AutoCloseable {
  private static final int TOKENS = HalfPage.TOKENS;

  /** Pages that are packed together: a page of the host. */
  static final int BLOCK_PAGES = 2;

  private final PagePool halfPool;
  private final PagePool packedPool; // null where nothing is packed
  private final int window;
  private long[] packed = new long[16];
  private long[] halves = new long[16];
  private int packedCount;
  private int halfCount;
  private int length;

  DeviceSequence(PagePool halfPool, PagePool packedPool, int window) {
    this.halfPool = halfPool;
    this.packedPool = packedPool;
    this.window = window;
  }

  /** Tokens in it. */
  public int length() {
    return length;
  }

  /** Takes room for one more token; answers its page and, in the lower bits, its place there. */
  long append() {
    int within = length - packedCount * TOKENS;
    if (within / TOKENS == halfCount) {
      long page = halfPool.take();
      halves = room(halves, halfCount);
      halves[halfCount++] = page;
    }
    length++;
    return halves[within / TOKENS] | within % TOKENS;
  }

  /** Forgets the token that came last. */
  void takeBack() {
    length--;
  }

  private static long[] room(long[] pages, int count) {
    return count < pages.length ? pages : Arrays.copyOf(pages, 2 * count);
  }

  /** Holds so many tokens more, whatever its pages hold, to measure with. */
  public void pretend(int tokens) {
    long[] pairs = new long[2 * BLOCK_PAGES];
    for (int i = 0; i < tokens; i++) {
      append();
      while (mustPack()) {
        pack(pairs, 0);
      }
    }
  }

  /** Adds what the token that came last attends to. */
  void describe(PageTable table) {
    table.addSequence();
    for (int page = 0; page < packedCount; page++) {
      table.addPacked(packed[page]);
    }
    for (int page = 0, left = length - packedCount * TOKENS; left > 0; page++, left -= TOKENS) {
      table.addHalves(halves[page], Math.min(left, TOKENS));
    }
  }

  /** Whether a block has left the window. */
  boolean mustPack() {
    return packedPool != null && (packedCount + BLOCK_PAGES) * TOKENS + window <= length;
  }

  /**
   * Gives the oldest block to be packed. Its pages of halves are given back at once: what a stream
   * does to them later comes after the packing.
   *
   * @param pairs from and to, of each page // set from {@code at} on
   */
  void pack(long[] pairs, int at) {
    for (int page = 0; page < BLOCK_PAGES; page++) {
      packed = room(packed, packedCount);
      packed[packedCount] = packedPool.take();
      pairs[at + 2 * page] = halves[page];
      pairs[at + 2 * page + 1] = packed[packedCount++];
      halfPool.giveBack(halves[page]);
    }
    halfCount -= BLOCK_PAGES;
    System.arraycopy(halves, BLOCK_PAGES, halves, 0, halfCount);
  }

  /** Gives all pages back. */
  @Override
  public void close() {
    for (int page = 0; page < halfCount; page++) {
      halfPool.giveBack(halves[page]);
    }
    for (int page = 0; page < packedCount; page++) {
      packedPool.giveBack(packed[page]);
    }
    halfCount = 0;
    packedCount = 0;
    length = 0;
  }
}

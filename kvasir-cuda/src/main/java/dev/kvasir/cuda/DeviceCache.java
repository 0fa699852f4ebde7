package dev.kvasir.cuda;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheForm;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.DenseRows;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PackingTime;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryFullException;
import java.util.ArrayList;
import java.util.List;

/**
 * What one sequence remembers, on a device. Tokens are halves at first; blocks of 128, as the host
 * packs them, are packed when a window of tokens follows them. The engine alone appends and
 * attends; nobody else sees a vector.
 */
public final class DeviceCache implements KvCache {
  private static final int TOKENS = SequencePages.TOKENS;
  private static final int BLOCK_PAGES = SequencePages.BLOCK_PAGES;

  private final KindPages home;
  private final CacheShape shape;
  private final SequencePages pages;
  private int length;
  private boolean packingHeld;
  private boolean closed;

  DeviceCache(KindPages home, CacheShape shape) {
    this(home, shape, new SequencePages(home));
  }

  DeviceCache(KindPages home, CacheShape shape, SequencePages pages) {
    this.home = home;
    this.shape = shape;
    this.pages = pages;
  }

  KindPages home() {
    return home;
  }

  SequencePages pages() {
    return pages;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void enter() {}

  @Override
  public void leave() {}

  @Override
  public void reserve(int wanted) {
    checkOpen();
    try {
      pages.reserve(length, wanted, packingHeld);
    } catch (MemoryFullException | DeviceRefusal e) {
      throw new CacheFullException(
          "the cache cannot take %d tokens after %d: %s"
              .formatted(wanted - length, length, e.getMessage()));
    }
  }

  @Override
  public int capacity() {
    return pages.capacity();
  }

  @Override
  public int stepOf(int tokens) {
    return pages.stepOf(length, tokens, packingHeld);
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    throw unreachable("appended to");
  }

  @Override
  public void count(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > pages.room()) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d".formatted(length + positions, pages.room()));
    }
    length += positions;
  }

  /** Holds so many tokens more, whatever their pages hold, to measure with. */
  public void pretend(int tokens) {
    for (int left = tokens; left > 0; left -= Math.min(left, BLOCK_PAGES * TOKENS)) {
      int some = Math.min(left, BLOCK_PAGES * TOKENS);
      reserve(length + some);
      pages.pretend();
      count(some);
      pages.turnOver(BLOCK_PAGES * packable());
    }
  }

  @Override
  public void settle() {
    checkOpen();
    int blocks = packable();
    if (blocks > 0) {
      pages.pack(BLOCK_PAGES * blocks);
    }
  }

  @Override
  public boolean mustSettle() {
    return packable() > 0;
  }

  /** Blocks that have left the window. */
  private int packable() {
    if (!home.packs() || packingHeld) {
      return 0;
    }
    int behind = length - home.kind().window() - home.kind().sinks() - pages.packedTokens();
    int together = home.kind().format().blocksTogether();
    return Math.max(0, behind / (together * BLOCK_PAGES * TOKENS)) * together;
  }

  @Override
  public void holdSealing(boolean held) {
    packingHeld = held;
    settle();
  }

  @Override
  public boolean readsPromptsAsStored() {
    return home.kind().format().isPackedByPosition();
  }

  @Override
  public int rowsTogether() {
    return PageReader.PROMPT_ROWS;
  }

  @Override
  public boolean seesTokens() {
    return false;
  }

  @Override
  public void see(int position, int token) {}

  @Override
  public boolean seesQueries() {
    return false;
  }

  @Override
  public void see(int layer, int position, float[] queries, int at) {}

  @Override
  public int receivingQueries() {
    return 0;
  }

  @Override
  public void receive(int layer, int kvHead, int from, int[] weights, int count) {}

  @Override
  public int keepable(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    return wanted;
  }

  @Override
  public int heldFrom(int layer) {
    return 0;
  }

  @Override
  public boolean learns() {
    return false;
  }

  @Override
  public boolean letsGo(int layer) {
    return false;
  }

  @Override
  public void letGo(int layer, int position) {
    throw unreachable("let go of");
  }

  @Override
  public void truncate(int wanted) {
    int kept = keepable(wanted);
    try {
      length = pages.keep(kept);
    } catch (RuntimeException | Error e) {
      length = Math.min(kept, pages.room());
      throw e;
    }
  }

  @Override
  public KvCache fork() {
    checkOpen();
    try {
      DeviceCache fork = new DeviceCache(home, shape, pages.fork(length));
      fork.length = length;
      fork.packingHeld = packingHeld;
      return fork;
    } catch (MemoryFullException | DeviceRefusal e) {
      throw new CacheFullException(
          "a sequence of %d tokens cannot be forked: %s".formatted(length, e.getMessage()));
    }
  }

  @Override
  public CacheForm form() {
    throw unreachable("stored");
  }

  @Override
  public int blockOf(int position) {
    int sinks = home.kind().sinks();
    return position < sinks
        ? position / TOKENS_PER_PAGE
        : sinkBlocks() + (position - sinks) / TOKENS_PER_PAGE;
  }

  @Override
  public int firstPosition(int block) {
    return block < sinkBlocks()
        ? block * TOKENS_PER_PAGE
        : home.kind().sinks() + (block - sinkBlocks()) * TOKENS_PER_PAGE;
  }

  private int sinkBlocks() {
    return Math.ceilDiv(home.kind().sinks(), TOKENS_PER_PAGE);
  }

  @Override
  public Page page(int layer, int block) {
    throw unreachable("read");
  }

  @Override
  public DenseRows denseRows(int layer, int block) {
    throw unreachable("read");
  }

  @Override
  public void expandKeys(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    throw unreachable("expanded");
  }

  @Override
  public void expandValues(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    throw unreachable("expanded");
  }

  private static InvalidInputException unreachable(String what) {
    return new InvalidInputException(
        "a cache on a device cannot be %s by the host; expected one on the processor"
            .formatted(what));
  }

  /** The device's time is not the host's. */
  @Override
  public PackingTime packingTime() {
    return new PackingTime(0, 0, 0);
  }

  @Override
  public CacheBytes bytes() {
    long sinks = pages.sinkPages() * home.halves().bytesOfAll();
    long window = pages.halfPages() * home.halves().bytesOfAll() - sinks;
    if (!home.packs()) {
      return new CacheBytes(0, 0, window, sinks, 0);
    }
    long codes = codeBytes();
    long ahead = pages.pagesAhead() == 0 ? 0 : pages.pagesAhead() * home.packed().bytesOfAll();
    return new CacheBytes(
        codes,
        pages.packedBytes() - codes,
        window,
        sinks,
        ahead + pages.tablePages() * home.tableBytes());
  }

  /** Of packed pages. */
  private long codeBytes() {
    long perPage = TOKENS * shape.valuesPerToken() * home.kind().format().bits() / Byte.SIZE;
    return pages.codeBytes(perPage);
  }

  @Override
  public List<CacheRun> runs() {
    List<CacheRun> runs = new ArrayList<>();
    double values = (double) TOKENS * shape.valuesPerToken();
    double halves = Byte.SIZE * home.halves().bytesOfAll() / values;
    int sinks = Math.min(length, home.kind().sinks());
    if (sinks > 0) {
      double bits = Byte.SIZE * pages.sinkPages() * home.halves().bytesOfAll() * TOKENS / values;
      runs.add(new CacheRun(sinks, halves, bits / sinks, CacheRun.Kind.SINKS));
    }
    int packed = pages.packedTokens();
    if (packed > 0) {
      double bits = (double) Byte.SIZE / packed / shape.valuesPerToken();
      runs.add(
          new CacheRun(
              packed, bits * codeBytes(), bits * pages.packedBytes(), CacheRun.Kind.PAGES));
    }
    if (length > sinks + packed) {
      runs.add(new CacheRun(length - sinks - packed, halves, halves, CacheRun.Kind.WINDOW));
    }
    return runs;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this cache is closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      length = 0;
      pages.keep(0);
    }
  }
}

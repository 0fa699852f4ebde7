package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The tokens of a sequence that are packed and stay as they came. In real models one token or
 * another behind the first ones becomes a second sink: it receives many times the attention of
 * others, and what its code is wrong by goes into every output. The first few of each layer stay.
 */
final class LateSinks {
  /** Received attention that makes a token a sink, in means of its page. */
  private static final int SINK_THRESHOLD = 8;

  /**
   * A token that stays.
   *
   * @param page position of its page's first token
   * @param room that its rows lie in, as long as there is a page that holds them
   */
  private record RetainedSink(int layer, int page, int token, SinkSlots storage) {
    boolean isSame(int otherLayer, int otherPage, int otherToken) {
      return layer == otherLayer && page == otherPage && token == otherToken;
    }
  }

  private final MeadTables tables;
  private final int slots;
  private final MemoryPool pool;
  private final List<RetainedSink> retained = new ArrayList<>();
  private SinkSlots storage; // where the next ones go

  /**
   * @param slots of each layer
   */
  LateSinks(MeadTables tables, int slots, MemoryPool pool) {
    this(tables, slots, pool, new SinkSlots(tables, slots, pool));
  }

  private LateSinks(MeadTables tables, int slots, MemoryPool pool, SinkSlots storage) {
    this.tables = tables;
    this.slots = slots;
    this.pool = pool;
    this.storage = storage;
  }

  static long bytesFor(MeadTables tables, int slots) {
    return SinkSlots.bytesFor(tables, slots);
  }

  /** Of all memory that this sequence's tokens lie in or may; shared with forks. */
  synchronized long bytes() {
    Set<SinkSlots> storages = new HashSet<>();
    storages.add(storage);
    retained.forEach(each -> storages.add(each.storage));
    return storages.stream().mapToLong(SinkSlots::bytes).sum();
  }

  /** Tokens that a page may keep at the most. */
  int slots() {
    return slots;
  }

  /**
   * The sinks of a page that is about to be packed, as far as there are slots for them; their rows
   * are yet to be written, and held for the page.
   *
   * @param received attention by token, of all heads
   */
  synchronized List<LateSink> of(int layer, int position, long[] received) {
    retained.removeIf(each -> each.layer == layer && each.page >= position);
    long total = 0;
    for (long ofToken : received) {
      total += ofToken;
    }
    long left = slots - retained.stream().filter(each -> each.layer == layer).count();
    List<LateSink> found = new ArrayList<>();
    try {
      for (int token = 0; token < Page.TOKENS && found.size() < left; token++) {
        if (received[token] > 0 && received[token] * Page.TOKENS >= SINK_THRESHOLD * total) {
          found.add(retainToken(layer, position, token));
        }
      }
      return found;
    } catch (RuntimeException | Error e) {
      found.forEach(sink -> sink.rows().release());
      throw e;
    }
  }

  /** A token of a page stays: rows for it, held for the page. */
  synchronized LateSink retainToken(int layer, int position, int token) {
    ExactRows rows = allocateRows(tables.quantizedLayer(layer));
    retained.removeIf(each -> each.isSame(layer, position, token));
    retained.add(new RetainedSink(layer, position, token, storage));
    return new LateSink(token, rows);
  }

  /** Where forks, or pages that outlive their sequence, have all slots, there is a room more. */
  private ExactRows allocateRows(int quantizedLayer) {
    return storage
        .allocate(quantizedLayer)
        .orElseGet(
            () -> {
              SinkSlots full = storage;
              storage = new SinkSlots(tables, slots, pool);
              full.release();
              return storage.allocate(quantizedLayer).orElseThrow();
            });
  }

  /** Forgets those of all pages that reach beyond a length. */
  synchronized void truncate(int length) {
    retained.removeIf(each -> each.page + Page.TOKENS > length);
  }

  synchronized LateSinks fork() {
    LateSinks fork = new LateSinks(tables, slots, pool, storage.retain());
    fork.retained.addAll(retained);
    return fork;
  }

  synchronized void close() {
    storage.release();
    retained.clear();
  }
}

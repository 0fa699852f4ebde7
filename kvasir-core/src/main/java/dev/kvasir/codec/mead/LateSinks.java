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
  private static final int MEANS = 8;

  /**
   * A token that stays.
   *
   * @param page position of its page's first token
   * @param room that its rows lie in, as long as there is a page that holds them
   */
  private record Kept(int layer, int page, int token, SinkRoom room) {
    boolean isSame(int otherLayer, int otherPage, int otherToken) {
      return layer == otherLayer && page == otherPage && token == otherToken;
    }
  }

  private final MeadTables tables;
  private final int slots;
  private final MemoryPool pool;
  private final List<Kept> kept = new ArrayList<>();
  private SinkRoom room; // where the next ones go

  /**
   * @param slots of each layer
   */
  LateSinks(MeadTables tables, int slots, MemoryPool pool) {
    this(tables, slots, pool, new SinkRoom(tables, slots, pool));
  }

  private LateSinks(MeadTables tables, int slots, MemoryPool pool, SinkRoom room) {
    this.tables = tables;
    this.slots = slots;
    this.pool = pool;
    this.room = room;
  }

  static long bytesFor(MeadTables tables, int slots) {
    return SinkRoom.bytesFor(tables, slots);
  }

  /** Of all memory that this sequence's tokens lie in or may; shared with forks. */
  synchronized long bytes() {
    Set<SinkRoom> rooms = new HashSet<>();
    rooms.add(room);
    kept.forEach(each -> rooms.add(each.room));
    return rooms.stream().mapToLong(SinkRoom::bytes).sum();
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
    kept.removeIf(each -> each.layer == layer && each.page >= position);
    long inAll = 0;
    for (long ofToken : received) {
      inAll += ofToken;
    }
    long left = slots - kept.stream().filter(each -> each.layer == layer).count();
    List<LateSink> found = new ArrayList<>();
    try {
      for (int token = 0; token < Page.TOKENS && found.size() < left; token++) {
        if (received[token] > 0 && received[token] * Page.TOKENS >= MEANS * inAll) {
          found.add(keep(layer, position, token));
        }
      }
      return found;
    } catch (RuntimeException | Error e) {
      found.forEach(sink -> sink.rows().release());
      throw e;
    }
  }

  /** A token of a page stays: rows for it, held for the page. */
  synchronized LateSink keep(int layer, int position, int token) {
    ExactRows rows = takeRows(tables.codedLayer(layer));
    kept.removeIf(each -> each.isSame(layer, position, token));
    kept.add(new Kept(layer, position, token, room));
    return new LateSink(token, rows);
  }

  /** Where forks, or pages that outlive their sequence, have all slots, there is a room more. */
  private ExactRows takeRows(int codedLayer) {
    return room.take(codedLayer)
        .orElseGet(
            () -> {
              SinkRoom full = room;
              room = new SinkRoom(tables, slots, pool);
              full.release();
              return room.take(codedLayer).orElseThrow();
            });
  }

  /** Forgets those of all pages that reach beyond a length. */
  synchronized void truncate(int length) {
    kept.removeIf(each -> each.page + Page.TOKENS > length);
  }

  synchronized LateSinks fork() {
    LateSinks fork = new LateSinks(tables, slots, pool, room.retain());
    fork.kept.addAll(kept);
    return fork;
  }

  synchronized void close() {
    room.release();
    kept.clear();
  }
}

package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The late attention sinks of a sequence: tokens of quantized pages that stay unquantized. In real
 * models a token after the first few can become a second sink. It receives many times the attention
 * of other tokens, so its quantization error would reach every output. The first few sinks of each
 * layer are retained.
 */
final class LateSinks {
  /** Received attention that makes a token a sink, as a multiple of its page's mean. */
  private static final int SINK_THRESHOLD = 8;

  /**
   * A retained token.
   *
   * @param storage of its rows
   * @param rows null if the page was evicted before the sequence was stored
   */
  private record RetainedSink(SinkPosition position, SinkSlots storage, ExactRows rows) {
    boolean isOf(int layer) {
      return position.layer() == layer;
    }

    /** Returns whether a page references the rows. */
    boolean isStored() {
      return rows != null && rows.isInUse();
    }
  }

  private final MeadTables tables;
  private final int slots;
  private final MemoryPool pool;
  private final List<RetainedSink> retained = new ArrayList<>();
  private SinkSlots storage; // of the next sinks

  /**
   * @param slots slots per layer
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

  /** Returns the bytes of all storage of this sequence; forks share it. */
  synchronized long bytes() {
    Set<SinkSlots> storages = new HashSet<>();
    storages.add(storage);
    retained.stream().filter(RetainedSink::isStored).forEach(each -> storages.add(each.storage));
    return storages.stream().mapToLong(SinkSlots::bytes).sum();
  }

  /** Returns the maximum number of late sinks of a page. */
  int slots() {
    return slots;
  }

  /**
   * Returns the sinks of a page that is about to be quantized, as far as slots are free. The page
   * owns their rows, which are still to be written.
   *
   * @param received attention by token, over all heads
   */
  synchronized List<LateSink> of(int layer, int position, long[] received) {
    retained.removeIf(each -> each.isOf(layer) && each.position.page() >= position);
    long total = 0;
    for (long ofToken : received) {
      total += ofToken;
    }
    long left = slots - retained.stream().filter(each -> each.isOf(layer)).count();
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

  /** Allocates rows for an unquantized token; the page owns them. */
  synchronized LateSink retainToken(int layer, int position, int token) {
    ExactRows rows = allocateRows(tables.quantizedLayer(layer));
    SinkPosition sink = new SinkPosition(layer, position, token);
    retained.removeIf(each -> each.position.equals(sink));
    retained.add(new RetainedSink(sink, storage, rows));
    return new LateSink(token, rows);
  }

  /**
   * Allocates rows. Adds storage when forks, or pages that outlive their sequence, use all slots.
   */
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

  /** Returns where all sinks are, those of pages included that sliding-window layers evicted. */
  synchronized List<SinkPosition> positions() {
    return retained.stream().map(RetainedSink::position).sorted().toList();
  }

  /** Counts sinks of a stored sequence, whose pages may follow. */
  synchronized void count(List<SinkPosition> sinks) {
    sinks.forEach(sink -> retained.add(new RetainedSink(sink, storage, null)));
  }

  /** Forgets the sinks of all pages that extend past a length. */
  synchronized void truncate(int length) {
    retained.removeIf(each -> each.position.page() + Page.TOKENS > length);
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

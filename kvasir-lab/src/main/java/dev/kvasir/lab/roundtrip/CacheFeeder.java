package dev.kvasir.lab.roundtrip;

import dev.kvasir.cache.KvCache;
import java.util.concurrent.CancellationException;

/** Feeds vectors to a cache as a decoder does: a prompt in one step, then token by token. */
final class CacheFeeder {
  private final Dump dump;
  private final KvCache cache;
  private final RoundTripListener listener;
  private final float[] keys; // (kvHeads, headDim)
  private final float[] values; // (kvHeads, headDim)
  private final float[] query; // (queryHeads, headDim)

  CacheFeeder(Dump dump, KvCache cache, RoundTripListener listener) {
    this.dump = dump;
    this.cache = cache;
    this.listener = listener;
    this.keys = new float[dump.keys().heads() * dump.keys().headDim()];
    this.values = new float[keys.length];
    this.query = new float[dump.queries().map(q -> q.heads() * q.headDim()).orElse(0)];
  }

  void run(int prefill) {
    // A budget may not hold the whole prompt in full precision.
    while (cache.length() < prefill) {
      step(cache.length(), Math.max(1, cache.stepCapacity(prefill - cache.length())));
    }
    for (int position = prefill; position < dump.tokens(); position++) {
      step(position, 1);
    }
  }

  /**
   * Follows the order of a decoder: append keys and values, let the cache observe queries, attend,
   * and then advance.
   */
  private void step(int first, int count) {
    cache.reserve(first + count);
    for (int position = first; position < first + count; position++) {
      append(position);
    }
    cache.advance(count);
  }

  private void append(int position) {
    if (listener.isCancelled()) {
      throw new CancellationException();
    }
    dump.keys().readToken(position, keys);
    dump.values().readToken(position, values);
    cache.append(0, position, keys, 0, values, 0);
    if (cache.observer().observesQueries()) {
      dump.queries().ifPresent(queries -> observe(queries, position));
    }
    listener.fed(position + 1, dump.tokens());
  }

  /** Queries exist for the last positions only. */
  private void observe(HeadVectors queries, int position) {
    int row = position - (dump.tokens() - queries.tokens());
    if (row >= 0) {
      queries.readToken(row, query);
      cache.observer().observe(0, position, query, 0);
    }
  }
}

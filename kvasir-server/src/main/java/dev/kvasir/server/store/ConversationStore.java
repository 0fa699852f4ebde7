package dev.kvasir.server.store;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TierCounts;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.beginning.FetchedPrefix;
import dev.kvasir.store.beginning.StoreCounts;
import dev.kvasir.store.beginning.StoredPrefixes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Where a server keeps beginnings of its conversations, and looks for those of others. A model has
 * one at a time: the last that was opened.
 */
public final class ConversationStore implements AutoCloseable {
  /** What closing may take, to write what waits. */
  public static final Duration CLOSING_TIME = TieredStore.CLOSE_TIMEOUT;

  private static final String HASHING =
      "hashing the model's weights, by which the store knows them; the hash is kept beside the"
          + " model where that can be written";

  private final Model model;
  private final TieredStore store;
  private final StoredPrefixes prefixes;

  private ConversationStore(Model model, TieredStore store) {
    this.model = model;
    this.store = store;
    this.prefixes = new StoredPrefixes(model, store);
  }

  /**
   * @param kinds of cache that will be asked for, whose names in the store are made now
   * @param contextLimit tokens of a conversation
   * @throws dev.kvasir.error.InvalidInputException where a place cannot be written to
   */
  public static ConversationStore open(
      Model model,
      List<StoreAddress> addresses,
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      ServerLog log) {
    model.requireStorable();
    addresses.forEach(StoreAddress::check);
    ConversationStore store = new ConversationStore(model, TieredStore.open(addresses, log::note));
    store.prepare(cacheSpecs, contextLimit, log);
    model.prefixes().setRemote(store.prefixes);
    return store;
  }

  /** Whoever waits longer than a second is told what for. */
  private void prepare(List<CacheSpec> cacheSpecs, int contextLimit, ServerLog log) {
    CompletableFuture<Void> notice =
        CompletableFuture.runAsync(
            () -> log.note(HASHING), CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
    cacheSpecs.forEach(kind -> prefixes.prepare(kind.text(), contextLimit));
    notice.cancel(false);
  }

  /** Waits until what was given to the tiers is written, or so long; tells which. */
  public boolean flush(Duration time) {
    return store.flush(time);
  }

  /** Where the beginning of a text came from, by its cache; empty where not from here. */
  public Optional<FetchedPrefix> origin(KvCache cache) {
    return prefixes.origin(cache);
  }

  /** What came of looking for beginnings. */
  public StoreCounts counts() {
    return prefixes.counts();
  }

  /** The nearest first. */
  public List<TierState> tiers() {
    List<TierCounts> counts = store.counts();
    return IntStream.range(0, counts.size())
        .mapToObj(
            tier ->
                new TierState(
                    counts.get(tier), store.speed(tier).bytesPerSecond(), store.size(tier)))
        .toList();
  }

  /** Tokens of prompts that were read in a second, as measured lately; 0 where none were. */
  public double promptTokensPerSecond() {
    return prefixes.prefillTokensPerSecond();
  }

  /** Writes what waits, within {@link #CLOSING_TIME} in all; called when all answers have ended. */
  @Override
  public void close() {
    model.prefixes().setRemote(null);
    long end = System.nanoTime() + CLOSING_TIME.toNanos();
    prefixes.close(CLOSING_TIME);
    store.close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
  }
}

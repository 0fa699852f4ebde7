package dev.kvasir.store.prefix;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.spi.PrefixStore;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TierCounts;
import dev.kvasir.store.TieredStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The persistent prefix cache of a model, which several processes may share. A model has one at a
 * time: the last one opened.
 */
public final class ConversationStore implements PrefixStore {
  /** The time limit for pending writes on close. */
  public static final Duration CLOSING_TIME = TieredStore.CLOSE_TIMEOUT;

  private static final String HASHING =
      "hashing the model's weights, by which the store knows them; the hash is kept beside the"
          + " model where that can be written";

  private final LoadedModel model;
  private final TieredStore store;
  private final StoredPrefixes prefixes;
  private final StoredTexts texts;

  private ConversationStore(LoadedModel model, TieredStore store) {
    this.model = model;
    this.store = store;
    this.prefixes = new StoredPrefixes(model, store);
    this.texts = new StoredTexts(store);
  }

  /**
   * @param cacheSpecs specs that requests may select, whose keys in the store are computed now
   * @param contextLimit tokens of a conversation
   * @param log receives a sentence when a tier fails or opening takes long
   * @throws dev.kvasir.error.InvalidInputException if a store cannot be written to, or the model's
   *     device cannot store sequences of one of the caches
   */
  public static ConversationStore open(
      LoadedModel model,
      List<StoreAddress> addresses,
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      Consumer<String> log) {
    cacheSpecs.forEach(model::requireStorable);
    addresses.forEach(StoreAddress::check);
    ConversationStore store = new ConversationStore(model, TieredStore.open(addresses, log));
    store.prepare(cacheSpecs, contextLimit, log);
    model.prefixes().setRemote(store.prefixes);
    return store;
  }

  /** Computes the store keys, and logs the reason if that takes longer than a second. */
  private void prepare(List<CacheSpec> cacheSpecs, int contextLimit, Consumer<String> log) {
    CompletableFuture<Void> notice =
        CompletableFuture.runAsync(
            () -> log.accept(HASHING), CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
    cacheSpecs.forEach(spec -> prefixes.prepare(spec.text(), contextLimit));
    notice.cancel(false);
  }

  /** Waits for pending writes; returns whether they finished in time. */
  public boolean flush(Duration time) {
    return store.flush(time);
  }

  /** Returns the texts that are kept with the conversations. */
  public StoredTexts texts() {
    return texts;
  }

  /** Returns the counts of lookups and writes. */
  public StoreCounts counts() {
    return prefixes.counts();
  }

  /** Returns the tiers, the nearest first. */
  public List<TierState> tiers() {
    List<TierCounts> counts = store.counts();
    return IntStream.range(0, counts.size())
        .mapToObj(
            tier ->
                new TierState(
                    counts.get(tier), store.speed(tier).bytesPerSecond(), store.size(tier)))
        .toList();
  }

  /** Returns the recent prefill speed; 0 before the first prompt. */
  public double promptTokensPerSecond() {
    return prefixes.prefillTokensPerSecond();
  }

  /**
   * Finishes pending writes within {@link #CLOSING_TIME}; called after all completions have ended.
   */
  @Override
  public void close() {
    model.prefixes().setRemote(null);
    long end = System.nanoTime() + CLOSING_TIME.toNanos();
    prefixes.close(CLOSING_TIME);
    store.close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
  }
}

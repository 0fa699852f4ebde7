package dev.kvasir.server.store;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TierCounts;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.beginning.Fetched;
import dev.kvasir.store.beginning.StoreCounts;
import dev.kvasir.store.beginning.StoredBeginnings;
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
  public static final Duration CLOSING_TIME = TieredBlobs.CLOSING_TIME;

  private static final String HASHING =
      "hashing the model's weights, by which the store knows them; the hash is kept beside the"
          + " model where that can be written";

  private final Model model;
  private final TieredBlobs blobs;
  private final StoredBeginnings beginnings;

  private ConversationStore(Model model, TieredBlobs blobs) {
    this.model = model;
    this.blobs = blobs;
    this.beginnings = new StoredBeginnings(model, blobs);
  }

  /**
   * @param kinds of cache that will be asked for, whose names in the store are made now
   * @param contextLimit tokens of a conversation
   * @throws dev.kvasir.error.InvalidInputException where a place cannot be written to
   */
  public static ConversationStore open(
      Model model,
      List<StoreAddress> places,
      List<CacheSpec> kinds,
      int contextLimit,
      ServerLog log) {
    model.requireStorable();
    places.forEach(StoreAddress::check);
    ConversationStore store = new ConversationStore(model, TieredBlobs.open(places, log::note));
    store.prepare(kinds, contextLimit, log);
    model.prefixes().keepIn(store.beginnings);
    return store;
  }

  /** Whoever waits longer than a second is told what for. */
  private void prepare(List<CacheSpec> kinds, int contextLimit, ServerLog log) {
    CompletableFuture<Void> telling =
        CompletableFuture.runAsync(
            () -> log.note(HASHING), CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
    kinds.forEach(kind -> beginnings.prepare(kind.text(), contextLimit));
    telling.cancel(false);
  }

  /** Waits until what was given to the tiers is written, or so long; tells which. */
  public boolean flush(Duration time) {
    return blobs.flush(time);
  }

  /** Where the beginning of a text came from, by its cache; empty where not from here. */
  public Optional<Fetched> origin(KvCache cache) {
    return beginnings.origin(cache);
  }

  /** What came of looking for beginnings. */
  public StoreCounts counts() {
    return beginnings.counts();
  }

  /** The nearest first. */
  public List<TierState> tiers() {
    List<TierCounts> counts = blobs.counts();
    return IntStream.range(0, counts.size())
        .mapToObj(
            tier ->
                new TierState(
                    counts.get(tier), blobs.speed(tier).bytesPerSecond(), blobs.size(tier)))
        .toList();
  }

  /** Tokens of prompts that were read in a second, as measured lately; 0 where none were. */
  public double promptTokensPerSecond() {
    return beginnings.readTokensPerSecond();
  }

  /** Writes what waits, within {@link #CLOSING_TIME} in all; called when all answers have ended. */
  @Override
  public void close() {
    model.prefixes().keepIn(null);
    long end = System.nanoTime() + CLOSING_TIME.toNanos();
    beginnings.close(CLOSING_TIME);
    blobs.close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
  }
}

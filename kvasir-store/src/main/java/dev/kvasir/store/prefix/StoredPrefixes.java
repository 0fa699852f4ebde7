package dev.kvasir.store.prefix;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.engine.PrefixCache.PrefixNamespace;
import dev.kvasir.engine.RemotePrefixCache;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.SharedMapping;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.TieredStore.LocatedBlob;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier.TierType;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SequenceBlocks;
import dev.kvasir.stored.StoredSequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * A remote prefix cache in a blob store. Fetched blobs are validated before any live state changes:
 * they must be intact and match the identity and the tokens. Otherwise the lookup is a miss, and
 * the text is prefilled.
 *
 * <p>The creator closes it, before the store and the model. Thread-safe.
 */
public final class StoredPrefixes implements RemotePrefixCache, AutoCloseable {
  private static final int STEP = Request.PREFILL_STEP;

  /** The maximum number of records tried for one text, longest first. */
  private static final int MAX_RECORDS = 3;

  private final LoadedModel model;
  private final TieredStore store;
  private final PrefixWriter writer;
  private final FetchCostModel costs = new FetchCostModel();
  private final Map<PrefixNamespace, Identity> identities = new ConcurrentHashMap<>();
  private final Map<KvCache, FetchedPrefix> origins =
      Collections.synchronizedMap(new WeakHashMap<>());
  private StoreCounts counts = StoreCounts.NONE;

  public StoredPrefixes(LoadedModel model, TieredStore store) {
    this.model = model;
    this.store = store;
    this.writer =
        new PrefixWriter(
            store, model.cacheMemory(), isKept -> count(before -> before.withSave(isKept)));
  }

  private static SessionOptions options(PrefixNamespace namespace) {
    return SessionOptions.builder()
        .cache(namespace.spec())
        .contextLimit(namespace.contextLimit())
        .tenant(namespace.tenant())
        .build();
  }

  /**
   * Returns the identity. Hashing weights and a profile is slow and happens once for all tenants.
   */
  private Identity identity(PrefixNamespace namespace) {
    PrefixNamespace ofAll = new PrefixNamespace(namespace.spec(), namespace.contextLimit(), "");
    return identities
        .computeIfAbsent(ofAll, any -> model.identity(options(ofAll)))
        .withTenant(namespace.tenant());
  }

  /** Computes the identity of a cache configuration ahead of the first lookup. */
  public void prepare(String spec, int contextLimit) {
    identity(new PrefixNamespace(spec, contextLimit, ""));
  }

  @Override
  public Optional<KvCache> find(PrefixNamespace namespace, int[] text, int cachedTokens) {
    long begin = System.nanoTime();
    int most = text.length - 1; // the last token is always computed, for its logits
    if (most < STEP || most - cachedTokens < STEP) {
      return Optional.empty(); // too short to be worth a lookup
    }
    double prefillSeconds = costs.prefillSeconds(most - cachedTokens);
    Deadline deadline = Deadline.in(FetchCostModel.fetchTimeout(prefillSeconds));
    Misses misses = new Misses();
    for (LocatedBlob record : records(identity(namespace), text, cachedTokens, deadline)) {
      Optional<KvCache> cache =
          candidate(namespace, record, text, cachedTokens)
              .flatMap(found -> fetch(namespace, found, cachedTokens, deadline, begin, misses));
      if (cache.isPresent()) {
        return cache;
      }
    }
    count(before -> before.withMiss(misses.isTooSlow, misses.isDamaged));
    return Optional.empty();
  }

  /** Why no record was usable; after a failed record a shorter one may follow. */
  private static final class Misses {
    private boolean isTooSlow;
    private boolean isDamaged;
  }

  /** Returns the existing records of the text's prefixes, longest first. */
  private List<LocatedBlob> records(
      Identity identity, int[] text, int cachedTokens, Deadline deadline) {
    List<BlobName> names = PrefixKeys.all(identity, text, text.length - 1);
    names = names.subList(Math.max(0, cachedTokens / STEP - 1), names.size());
    List<BlobName> existing = new ArrayList<>(store.locate(names, deadline).keySet());
    List<BlobName> wanted = existing.reversed().stream().limit(MAX_RECORDS).toList();
    return List.copyOf(store.read(wanted, deadline).values());
  }

  /**
   * A record that shares a prefix with a text.
   *
   * @param matchedTokens length of that prefix
   */
  private record Candidate(LocatedBlob found, StoredSequence sequence, int matchedTokens) {}

  private Optional<Candidate> candidate(
      PrefixNamespace namespace, LocatedBlob record, int[] text, int cachedTokens) {
    StoredSequence sequence;
    try {
      sequence = StoredSequence.read(record.toArray());
    } catch (InvalidInputException e) {
      store.deleteDamaged(record);
      return Optional.empty();
    }
    int matchedTokens = matchingTokens(sequence, text);
    boolean isOurs = sequence.identity().equals(identity(namespace));
    return isOurs && matchedTokens > cachedTokens
        ? Optional.of(new Candidate(record, sequence, matchedTokens))
        : Optional.empty();
  }

  /**
   * Returns the length of the common prefix; 0 if the texts differ within the record's whole steps,
   * because a cache state exists only at step boundaries.
   */
  private static int matchingTokens(StoredSequence sequence, int[] text) {
    int[] tokens = sequence.tokens();
    int mismatch = Arrays.mismatch(tokens, 0, sequence.length(), text, 0, text.length - 1);
    int common = mismatch < 0 ? sequence.length() : mismatch;
    return common < sequence.length() / STEP * STEP ? 0 : common;
  }

  private Optional<KvCache> fetch(
      PrefixNamespace namespace,
      Candidate candidate,
      int cachedTokens,
      Deadline deadline,
      long begin,
      Misses misses) {
    StoredSequence sequence = candidate.sequence();
    List<BlobName> names = sequence.blocks().stream().map(PrefixWriter::blockName).toList();
    double prefillSeconds = costs.prefillSeconds(candidate.matchedTokens() - cachedTokens);
    if (expectedFetchSeconds(candidate.found(), names) >= prefillSeconds) {
      misses.isTooSlow = true;
      return Optional.empty();
    }
    SharedMapping files = new SharedMapping();
    try {
      Map<BlobName, LocatedBlob> found = store.read(names, deadline, files::tryMap);
      if (found.size() < names.stream().distinct().count()) {
        return Optional.empty();
      }
      List<LocatedBlob> blocks = names.stream().map(found::get).toList();
      Optional<KvCache> cache = restore(namespace, candidate, cachedTokens, blocks, files, misses);
      cache.ifPresent(made -> recordHit(made, candidate, blocks, begin, prefillSeconds));
      return cache;
    } finally {
      files.release(); // the cache retains them if it reads blocks in place
    }
  }

  private double expectedFetchSeconds(LocatedBlob record, List<BlobName> blocks) {
    return costs.fetchSeconds(store.speed(record.tier()), blocks.size(), record.size());
  }

  private Optional<KvCache> restore(
      PrefixNamespace namespace,
      Candidate candidate,
      int cachedTokens,
      List<LocatedBlob> blocks,
      SharedMapping files,
      Misses misses) {
    int[] reading = {-1};
    try {
      KvCache cache =
          model.restoreCache(
              options(namespace),
              SequenceBlocks.read(
                  candidate.sequence(),
                  index -> {
                    reading[0] = index;
                    return Snapshot.of(blocks.get(index).bytes());
                  },
                  files));
      if (candidate.matchedTokens() < cache.length()) {
        cache.truncate(candidate.matchedTokens());
      }
      if (cache.length() <= cachedTokens) {
        cache.close();
        return Optional.empty();
      }
      return Optional.of(cache);
    } catch (CacheFullException e) {
      return Optional.empty();
    } catch (InvalidInputException e) {
      store.deleteDamaged(candidate.found());
      if (reading[0] >= 0) {
        store.deleteDamaged(blocks.get(reading[0]));
      }
      misses.isDamaged = true;
      return Optional.empty();
    }
  }

  private void recordHit(
      KvCache cache,
      Candidate candidate,
      List<LocatedBlob> blocks,
      long begin,
      double prefillSeconds) {
    List<LocatedBlob> all = new ArrayList<>(blocks);
    all.add(candidate.found());
    store.markVerified(all);
    long bytes = all.stream().mapToLong(LocatedBlob::size).sum();
    costs.recordFetch(blocks.size(), bytes - candidate.found().size());
    int tier = all.stream().mapToInt(LocatedBlob::tier).max().orElseThrow();
    FetchedPrefix fetched =
        new FetchedPrefix(
            store.counts().get(tier).tier(),
            store.counts().get(tier).type(),
            cache.length(),
            bytes,
            System.nanoTime() - begin,
            prefillSeconds);
    origins.put(cache, fetched);
    count(before -> before.withHit(fetched.tokens(), bytes, fetched.secondsSaved()));
  }

  @Override
  public void store(PrefixNamespace namespace, int[] text, String owner, KvCache cache) {
    if (cache.length() < STEP) {
      cache.close();
    } else {
      writer.write(identity(namespace), namespace.contextLimit(), text, owner, cache);
    }
  }

  @Override
  public void forget(String tenant, String owner) {
    writer.delete(tenant, owner);
  }

  @Override
  public void recordPrefill(int tokens, long nanos) {
    costs.recordPrefill(tokens, nanos);
  }

  @Override
  public Optional<Origin> originOf(KvCache cache) {
    return origin(cache).map(from -> new Origin(from.tierType().word(), from.nanos()));
  }

  Optional<FetchedPrefix> origin(KvCache cache) {
    return Optional.ofNullable(origins.get(cache));
  }

  public synchronized StoreCounts counts() {
    return counts;
  }

  private synchronized void count(UnaryOperator<StoreCounts> more) {
    counts = more.apply(counts);
  }

  /** Returns the recent prefill throughput; 0 before the first measurement. */
  public double prefillTokensPerSecond() {
    return costs.prefillTokensPerSecond();
  }

  /** Hands pending prefixes to the store for at most {@code time}; returns whether all were. */
  public boolean close(Duration time) {
    return writer.finish(time);
  }

  @Override
  public void close() {
    close(TieredStore.CLOSE_TIMEOUT);
  }

  /**
   * Where a fetched prefix came from.
   *
   * @param tier display name of the furthest tier that contributed a blob
   * @param tierType type of that tier
   * @param tokens that need no prefill
   * @param bytes that were fetched
   * @param nanos that fetching and restoring took
   * @param prefillSeconds estimated prefill time of these tokens; infinite if unknown
   */
  record FetchedPrefix(
      String tier, TierType tierType, int tokens, long bytes, long nanos, double prefillSeconds) {
    double secondsSaved() {
      return Double.isInfinite(prefillSeconds) ? 0 : prefillSeconds - nanos * 1e-9;
    }
  }
}

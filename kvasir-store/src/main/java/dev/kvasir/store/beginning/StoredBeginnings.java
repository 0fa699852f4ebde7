package dev.kvasir.store.beginning;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Form;
import dev.kvasir.engine.FarBeginnings;
import dev.kvasir.engine.PrefixCache.Kind;
import dev.kvasir.engine.Sequence;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.TieredBlobs.Found;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.stored.Blocks;
import dev.kvasir.stored.Identity;
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
 * Beginnings of a model's texts in a store. What is fetched is checked before anything live is
 * touched: whole, of this identity, of these tokens. Anything else is a miss, and the text is read.
 *
 * <p>It belongs to whoever makes it, and is closed before the blobs and the model.
 */
public final class StoredBeginnings implements FarBeginnings, AutoCloseable {
  private static final int STEP = Sequence.PROMPT_STEP;

  /** Records that are looked into for one text, the longest first. */
  private static final int MOST_RECORDS = 3;

  private final Model model;
  private final TieredBlobs blobs;
  private final BeginningWriter writer;
  private final ExpectedTimes times = new ExpectedTimes();
  private final Map<Kind, Identity> identities = new ConcurrentHashMap<>();
  private final Map<KvCache, Fetched> origins = Collections.synchronizedMap(new WeakHashMap<>());
  private StoreCounts counts = StoreCounts.NONE;

  public StoredBeginnings(Model model, TieredBlobs blobs) {
    this.model = model;
    this.blobs = blobs;
    this.writer =
        new BeginningWriter(
            blobs, model.cacheMemory(), isKept -> count(before -> before.withKept(isKept)));
  }

  private static SessionOptions options(Kind kind) {
    return new SessionOptions(
        CacheSpec.parse(kind.spec()), kind.contextLimit(), Prefill.CHUNKED, kind.tenant());
  }

  /** To hash weights and a profile takes its time, once for all tenants. */
  private Identity identity(Kind kind) {
    Kind ofAll = new Kind(kind.spec(), kind.contextLimit(), "");
    return identities
        .computeIfAbsent(ofAll, any -> model.identity(options(ofAll)))
        .of(kind.tenant());
  }

  /** Does beforehand what the first question for a kind of cache would wait for. */
  public void prepare(String spec, int contextLimit) {
    identity(new Kind(spec, contextLimit, ""));
  }

  @Override
  public Optional<KvCache> find(Kind kind, int[] text, int known) {
    long begin = System.nanoTime();
    int most = text.length - 1; // the last token is read in any case, for its logits
    if (most < STEP || most - known < STEP) {
      return Optional.empty(); // not worth a question
    }
    double readSeconds = times.toRead(most - known);
    Deadline deadline = Deadline.in(ExpectedTimes.patience(readSeconds));
    Misses misses = new Misses();
    for (Found record : records(identity(kind), text, known, deadline)) {
      Optional<KvCache> cache =
          candidate(kind, record, text, known)
              .flatMap(found -> fetch(kind, found, known, deadline, begin, misses));
      if (cache.isPresent()) {
        return cache;
      }
    }
    count(before -> before.withMiss(misses.isNotWorth, misses.isDamaged));
    return Optional.empty();
  }

  /** Why none of the records served: one that lacks a block may have a shorter one behind it. */
  private static final class Misses {
    private boolean isNotWorth;
    private boolean isDamaged;
  }

  /** Records of the text's steps that are there, the longest first. */
  private List<Found> records(Identity identity, int[] text, int known, Deadline deadline) {
    List<BlobName> names = StepKeys.all(identity, text, text.length - 1);
    names = names.subList(Math.max(0, known / STEP - 1), names.size());
    List<BlobName> there = new ArrayList<>(blobs.locate(names, deadline).keySet());
    List<BlobName> wanted = there.reversed().stream().limit(MOST_RECORDS).toList();
    return List.copyOf(blobs.read(wanted, deadline).values());
  }

  /**
   * A record that serves a text.
   *
   * @param serves tokens of the text
   */
  private record Candidate(Found found, StoredSequence sequence, int serves) {}

  private Optional<Candidate> candidate(Kind kind, Found record, int[] text, int known) {
    StoredSequence sequence;
    try {
      sequence = StoredSequence.read(record.bytes());
    } catch (InvalidInputException e) {
      blobs.damaged(record);
      return Optional.empty();
    }
    int serves = serves(sequence, text);
    boolean isOurs = sequence.identity().equals(identity(kind));
    return isOurs && serves > known
        ? Optional.of(new Candidate(record, sequence, serves))
        : Optional.empty();
  }

  /** None of it, where they part before its whole steps end: a state lies between steps. */
  private static int serves(StoredSequence sequence, int[] text) {
    int[] tokens = sequence.tokens();
    int mismatch = Arrays.mismatch(tokens, 0, sequence.length(), text, 0, text.length - 1);
    int common = mismatch < 0 ? sequence.length() : mismatch;
    return common < sequence.length() / STEP * STEP ? 0 : common;
  }

  private Optional<KvCache> fetch(
      Kind kind, Candidate candidate, int known, Deadline deadline, long begin, Misses misses) {
    StoredSequence sequence = candidate.sequence();
    List<BlobName> names = sequence.blocks().stream().map(BeginningWriter::blockName).toList();
    double readSeconds = times.toRead(candidate.serves() - known);
    if (expected(candidate.found(), names) >= readSeconds) {
      misses.isNotWorth = true;
      return Optional.empty();
    }
    Map<BlobName, Found> found = blobs.read(names, deadline);
    if (found.size() < names.stream().distinct().count()) {
      return Optional.empty();
    }
    List<Found> blocks = names.stream().map(found::get).toList();
    Optional<KvCache> cache = restored(kind, candidate, known, blocks, misses);
    cache.ifPresent(made -> tell(made, candidate, blocks, begin, readSeconds));
    return cache;
  }

  private double expected(Found record, List<BlobName> blocks) {
    return times.toFetch(blobs.speed(record.tier()), blocks.size(), record.bytes().length);
  }

  private Optional<KvCache> restored(
      Kind kind, Candidate candidate, int known, List<Found> blocks, Misses misses) {
    int[] reading = {-1};
    try {
      KvCache cache =
          model.restoredCache(
              options(kind),
              Blocks.read(
                  candidate.sequence(),
                  index -> {
                    reading[0] = index;
                    return Form.of(blocks.get(index).bytes());
                  }));
      if (candidate.serves() < cache.length()) {
        cache.truncate(candidate.serves());
      }
      if (cache.length() <= known) {
        cache.close();
        return Optional.empty();
      }
      return Optional.of(cache);
    } catch (CacheFullException e) {
      return Optional.empty();
    } catch (InvalidInputException e) {
      blobs.damaged(candidate.found());
      if (reading[0] >= 0) {
        blobs.damaged(blocks.get(reading[0]));
      }
      misses.isDamaged = true;
      return Optional.empty();
    }
  }

  private void tell(
      KvCache cache, Candidate candidate, List<Found> blocks, long begin, double readSeconds) {
    List<Found> all = new ArrayList<>(blocks);
    all.add(candidate.found());
    blobs.verified(all);
    long bytes = all.stream().mapToLong(found -> found.bytes().length).sum();
    times.fetched(blocks.size(), bytes - candidate.found().bytes().length);
    int tier = all.stream().mapToInt(Found::tier).max().orElseThrow();
    Fetched fetched =
        new Fetched(
            blobs.counts().get(tier).tier(),
            blobs.counts().get(tier).place(),
            cache.length(),
            bytes,
            System.nanoTime() - begin,
            readSeconds);
    origins.put(cache, fetched);
    count(before -> before.withHit(fetched.tokens(), bytes, fetched.secondsSaved()));
  }

  @Override
  public void keep(Kind kind, int[] text, String owner, KvCache cache) {
    if (cache.length() < STEP) {
      cache.close();
    } else {
      writer.write(identity(kind), kind.contextLimit(), text, owner, cache);
    }
  }

  @Override
  public void forget(String tenant, String owner) {
    writer.forget(tenant, owner);
  }

  @Override
  public void read(int tokens, long nanos) {
    times.read(tokens, nanos);
  }

  /** Where the beginning of a text came from, by its cache. */
  public Optional<Fetched> origin(KvCache cache) {
    return Optional.ofNullable(origins.get(cache));
  }

  public synchronized StoreCounts counts() {
    return counts;
  }

  private synchronized void count(UnaryOperator<StoreCounts> more) {
    counts = more.apply(counts);
  }

  /** Tokens of prompts that are read in a second, as measured lately; 0 where nothing was. */
  public double readTokensPerSecond() {
    return times.tokensPerSecond();
  }

  /** Gives what waits to the store, for so long at the most. */
  public boolean close(Duration time) {
    return writer.finish(time);
  }

  @Override
  public void close() {
    close(TieredBlobs.CLOSING_TIME);
  }
}

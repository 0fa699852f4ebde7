package dev.kvasir.cuda;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.mixkvq.MixkvqPlan;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.EngineProvider;
import dev.kvasir.model.Fingerprint;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A decoder on a device. Steps from several threads come one after another, and so does whatever
 * else is done to pages: all of it goes into one stream, under one lock.
 *
 * <p>How attention is shared out depends on a whole batch, and with it the order of its sums: a
 * neighbour may change the last bits of a sequence, which it never does on the processor.
 */
public final class CudaEngine implements DecoderEngine {
  /** Rows of a step at the most; others follow in another one. */
  public static final int MOST_ROWS = 256;

  private final ModelConfig config;
  private final String fingerprint;
  private final Device device;
  private final DeviceRoom room;
  private final DeviceDecoder decoder;
  private final ReentrantLock lock;
  private final CommvqModels codebooks;
  private volatile boolean closed; // set under the lock

  private CudaEngine(
      ModelConfig config, String fingerprint, DeviceRoom room, DeviceDecoder decoder) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.device = room.device();
    this.room = room;
    this.decoder = decoder;
    this.lock = room.lock();
    this.codebooks = new CommvqModels(config);
  }

  /**
   * @throws DeviceRefusal if there is not as much memory as it takes; none is taken then
   */
  static CudaEngine open(Device device, EngineProvider.Request request) {
    ModelConfig config = request.config();
    return open(
        device,
        config,
        Fingerprint.of(config, request.file()),
        request.cacheBytes(),
        room -> room.load(request.file(), config, request.progress()));
  }

  /**
   * One with random weights, to measure with.
   *
   * @throws InvalidInputException for a type that a device has no kernels for
   */
  public static CudaEngine random(Device device, ModelConfig config, GgmlType type) {
    if (WeightKind.of(type).isEmpty()) {
      throw new InvalidInputException(
          "weights of type %s; a device has no kernels for them".formatted(type));
    }
    return open(device, config, "random", Long.MAX_VALUE, room -> room.random(config, type));
  }

  private static CudaEngine open(
      Device device,
      ModelConfig config,
      String fingerprint,
      long cacheBytes,
      Function<DeviceRoom, DeviceWeights> loader) {
    DeviceRoom room = DeviceRoom.open(device);
    try {
      DeviceDecoder decoder = room.decoder(config, loader.apply(room), MOST_ROWS);
      room.holdPages(config, cacheBytes, MOST_ROWS);
      return new CudaEngine(config, fingerprint, room, decoder);
    } catch (RuntimeException | Error e) {
      Closing.after(e, room);
      throw e;
    }
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public String fingerprint() {
    return fingerprint;
  }

  @Override
  public String place() {
    return device.name();
  }

  @Override
  public CacheHost cacheHost() {
    return CacheHost.unknown().withQueryHeads(config.queryHeads()).withMemory(room.memory());
  }

  @Override
  public long weightBytes() {
    return decoder.weightBytes();
  }

  @Override
  public MemoryPool memory() {
    return room.memory();
  }

  /** Bytes of the device that are taken, for whatever purpose. */
  public long bytes() {
    return room.bytes();
  }

  @Override
  public KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    PageKind kind = kindOf(spec, profile);
    if (!kind.format().shrinks()) {
      return newCache(kind);
    }
    KindPages pages = pages(kind);
    CacheHost host = cacheHost().withProfile(profile).withContextLimit(contextLimit);
    PageWidths widths = PageWidths.of(spec, config.cacheShape(), host);
    return new DeviceCache(pages, config.cacheShape(), new ShrinkingPages(pages, widths));
  }

  private PageKind kindOf(CacheSpec spec, Optional<Profile> profile) {
    return PageKind.of(spec, profile, commvq -> codebooks.of(commvq, profile));
  }

  /** An empty cache of a kind. */
  public DeviceCache newCache(PageKind kind) {
    if (kind.format().shrinks()) {
      throw new DeviceRefusal(
          "pages of '%s' shrink under a budget; expected a cache that has one"
              .formatted(kind.format()));
    }
    return new DeviceCache(pages(kind), config.cacheShape());
  }

  private KindPages pages(PageKind kind) {
    lock.lock();
    try {
      checkOpen();
      return room.pages(kind);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean storesSequences() {
    return false;
  }

  @Override
  public KvCache restored(
      CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheForm form) {
    throw new InvalidInputException(
        "a session that was stored cannot go on on a device; expected the device cpu");
  }

  /** A block waits for the window behind it, and for the end of a prompt's step. */
  @Override
  public long mostBytes(CacheSpec spec, CacheHost host, int tokens, int stepTokens) {
    KindPages pages =
        pages(
            PageKind.foretold(
                spec, host.profile(), commvq -> codebooks.of(commvq, host.profile())));
    int all = Math.ceilDiv(tokens, HalfPage.TOKENS);
    if (!pages.setsAside()) {
      long halves = pages.bytes(all + 1 + pages.kind().sinkPages());
      return spec.budgetBytes(config.cacheShape(), host)
          .map(budget -> Math.min(halves, mostOf(budget, pages)))
          .orElse(halves);
    }
    int block = SequencePages.BLOCK_PAGES * HalfPage.TOKENS;
    int unpacked = Math.ceilDiv(pages.kind().window() + block + stepTokens, HalfPage.TOKENS) + 1;
    int halves = pages.kind().sinkPages() + Math.min(all + 1, unpacked);
    return (all + 1) * pages.packed().bytesOfAll()
        + halves * pages.halves().bytesOfAll()
        + pages.kind().format().tablePages(tokens / block) * pages.tableBytes()
        + widerBytes(spec, host, pages, tokens / block);
  }

  /** Of channels that pages have elsewhere; what is usual, where a profile says it. */
  private static long widerBytes(CacheSpec spec, CacheHost host, KindPages pages, int blocks) {
    if (!(pages.kind().format() instanceof MixedFormat mixed)) {
      return 0;
    }
    MixkvqPlan plan = MixkvqPlan.of(new SpecText(spec.text()));
    long block = pages.wider().foretold(plan.shares(host, mixed.thresholds()));
    return Math.ceilDiv(blocks * block, WiderChannels.EXTENT_BYTES) * WiderChannels.EXTENT_BYTES;
  }

  /**
   * Scales for 32 numbers are a third more at two bits; sinks and what is filled have whole pages.
   */
  private static long mostOf(long budget, KindPages pages) {
    int pagesInPart = pages.kind().sinkPages() + SequencePages.BLOCK_PAGES;
    return budget + budget / 3 + pages.bytes(pagesInPart);
  }

  @Override
  public long sharedBytes(CacheSpec spec, CacheHost host) {
    return codebooks.bytes(PageKind.of(spec).format());
  }

  @Override
  public void step(Batch batch) {
    checkOpen();
    check(batch);
    for (int i = 0; i < batch.sequences(); i++) {
      reserve(batch, i);
    }
    lock.lock();
    try {
      checkOpen(); // it may have been closed while this thread waited
      room.enter();
      new DeviceStep(decoder, batch, config.vocabulary()).run();
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i)) {
        batch.cache(i).count(batch.endRow(i) - batch.firstRow(i));
      }
    }
  }

  /**
   * Nobody else suffers where one finds no memory. It is taken without the lock, which those who
   * give some back for it may need; a pool that was closed meanwhile refuses.
   */
  private static void reserve(Batch batch, int sequence) {
    try {
      batch.cache(sequence).reserve(batch.position(batch.endRow(sequence) - 1) + 1);
    } catch (RuntimeException e) {
      batch.fail(sequence, e);
    }
  }

  private void check(Batch batch) {
    if (batch.rows() == 0) {
      throw new IllegalArgumentException("the batch has no rows");
    }
    for (int row = 0; row < batch.rows(); row++) {
      if (batch.token(row) < 0 || batch.token(row) >= config.vocabulary()) {
        throw new IllegalArgumentException(
            "token is %d; expected 0 to %d".formatted(batch.token(row), config.vocabulary() - 1));
      }
      if (batch.position(row) >= config.contextLength()) {
        throw new IllegalArgumentException(
            "position is %d; the context holds %d"
                .formatted(batch.position(row), config.contextLength()));
      }
    }
  }

  /** Runs a step whose kernels wait for each other; microseconds of each part, by its name. */
  public Map<String, Double> partsOf(Batch batch) {
    try (StepClock clock = new StepClock()) {
      decoder.mark(clock);
      step(batch);
      return clock.micros();
    } finally {
      decoder.mark(StepMarks.NONE);
    }
  }

  /** Fills pages with numbers of any kind, to measure with. */
  public void scramble() {
    lock.lock();
    try {
      checkOpen();
      room.scramble();
    } finally {
      lock.unlock();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        Closing.all(room, codebooks);
      }
    } finally {
      lock.unlock();
    }
  }
}

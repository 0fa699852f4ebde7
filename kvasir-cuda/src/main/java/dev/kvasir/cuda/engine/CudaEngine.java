package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.cuda.driver.CudaEvent;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.kernels.DeviceWeights;
import dev.kvasir.cuda.kernels.FileWeightSource;
import dev.kvasir.cuda.kernels.WeightFormat;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.Fingerprint;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import dev.kvasir.spi.EngineProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * A decoder on a CUDA device, or on several with consecutive layers each. Steps from several
 * threads and all other page operations run one after another, in one stream of each device and
 * under one lock.
 *
 * <p>Other sequences of a batch do not change the bits of a result: rows of prompts and of
 * generated tokens have kernels of their own, whose sums have an order that depends on the
 * sequence's own length only.
 */
public final class CudaEngine implements DecoderEngine {
  /** Maximum rows of a step; larger batches take several. */
  static final int MAX_ROWS = 512;

  private final ModelConfig config;
  private final String fingerprint;
  private final Cards cards;
  private final DeviceStep deviceStep; // used under the lock
  private final ReentrantLock lock;
  private final FormatRequest.LoadedModel model;
  private volatile boolean closed; // set under the lock

  private CudaEngine(ModelConfig config, String fingerprint, Cards cards) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.cards = cards;
    this.deviceStep = new DeviceStep(cards.chain(), config.vocabulary());
    this.lock = cards.lock();
    this.model = new FormatRequest.LoadedModel(config, new ModelTables());
  }

  /**
   * @param devices several have consecutive layers each
   * @throws DeviceException if there is too little memory; none stays allocated then
   */
  static CudaEngine open(List<Device> devices, EngineProvider.LoadRequest request) {
    ModelConfig config = request.config();
    String fingerprint = Fingerprint.of(config, request.file());
    Cards cards =
        Cards.open(devices, config, request.cacheBytes(), MAX_ROWS, new RequestedWeights(request));
    return new CudaEngine(config, fingerprint, cards);
  }

  /** The weights of a file. */
  private record RequestedWeights(EngineProvider.LoadRequest request)
      implements Cards.WeightLoader {
    @Override
    public DeviceWeights load(DeviceContext context, LayerRange range) {
      return context.loadWeights(request.file(), request.config(), range, request.progress());
    }

    @Override
    public long endBytes(Device device, boolean hasFirst, boolean hasLast) {
      return FileWeightSource.endBytes(
          request.file(), request.config(), hasFirst, hasLast, device.hasWarpgroupProducts());
    }
  }

  /**
   * Opens an engine with random weights for benchmarks.
   *
   * @throws InvalidInputException if there are no kernels for the type
   */
  public static CudaEngine random(Device device, ModelConfig config, GgmlType type) {
    if (WeightFormat.of(type).isEmpty()) {
      throw new InvalidInputException(
          "weights of type %s; a device has no kernels for them".formatted(type));
    }
    Cards cards =
        Cards.open(
            List.of(device),
            config,
            Long.MAX_VALUE,
            MAX_ROWS,
            (context, range) -> context.randomWeights(config, type));
    return new CudaEngine(config, "random", cards);
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
  public String device() {
    return cards.name();
  }

  @Override
  public CacheContext cacheContext() {
    return CacheContext.unknown().withQueryHeads(config.queryHeads()).withMemory(cards.memory());
  }

  @Override
  public long weightBytes() {
    return cards.chain().weightBytes();
  }

  @Override
  public MemoryPool memory() {
    return cards.memory();
  }

  /** Returns the allocated bytes of all devices. */
  public long bytes() {
    return cards.bytes();
  }

  @Override
  public KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    checkOpen();
    CacheContext context = cacheContext().withProfile(profile).withContextLimit(contextLimit);
    DeviceCacheConfig cacheConfig = cacheConfig(spec, context);
    return whole(cacheConfig, newParts(cacheConfig, spec, context));
  }

  private KvCache whole(DeviceCacheConfig cacheConfig, List<DeviceCache> parts) {
    return DividedCache.of(new DividedCache.Whole(cacheConfig, config.cacheShape()), parts);
  }

  /** Returns empty caches of the layers on each card. */
  private List<DeviceCache> newParts(
      DeviceCacheConfig cacheConfig, CacheSpec spec, CacheContext context) {
    List<CacheResources> resources = resources(cacheConfig);
    List<DeviceCache> parts = new ArrayList<>();
    for (int card = 0; card < resources.size(); card++) {
      DeviceCache part = newPart(card, resources.get(card), spec, context);
      parts.add(part.deferringPrompts(spec.defersPrompts()));
    }
    return parts;
  }

  /** Returns the empty cache of the layers on a card. */
  private DeviceCache newPart(
      int card, CacheResources resources, CacheSpec spec, CacheContext context) {
    CacheShape shape = cards.all().get(card).config().cacheShape();
    if (!resources.cacheConfig().format().requantizes()) {
      return new DeviceCache(resources, shape);
    }
    LayerRange range = cards.all().get(card).range();
    int[] firstLayers =
        IntStream.of(resources.levels().groups().firstLayers())
            .map(layer -> range.first() + layer)
            .toArray();
    PageWidths widths = PageWidths.of(spec, config.cacheShape(), context, firstLayers);
    return new DeviceCache(resources, shape, new RequantizingPages(resources, widths));
  }

  /** Returns an empty cache for benchmarks, on an engine with one device. */
  public DeviceCache newCache(DeviceCacheConfig cacheConfig) {
    if (cacheConfig.format().requantizes()) {
      throw new DeviceException(
          "pages of '%s' are requantized under a budget; expected a cache that has one"
              .formatted(cacheConfig.format()));
    }
    return new DeviceCache(resources(cacheConfig).getFirst(), config.cacheShape());
  }

  private List<CacheResources> resources(DeviceCacheConfig cacheConfig) {
    lock.lock();
    try {
      checkOpen();
      return cards.resources(cacheConfig);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void requireStorable(CacheSpec spec) {
    DeviceCacheConfig.of(spec).requireStorable(spec.text());
  }

  @Override
  public boolean storesGpuPages() {
    return true;
  }

  @Override
  public KvCache restoreCache(
      CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheSnapshot snapshot) {
    checkOpen();
    requireStorable(spec);
    CacheContext context = cacheContext().withProfile(profile).withContextLimit(contextLimit);
    DeviceCacheConfig cacheConfig = cacheConfig(spec, context);
    DeviceRestorer restorer = new DeviceRestorer(cacheConfig, config.cacheShape(), snapshot);
    List<DeviceCache> parts = newParts(cacheConfig, spec, context);
    restorer.fill(parts);
    return whole(cacheConfig, parts);
  }

  private DeviceCacheConfig cacheConfig(CacheSpec spec, CacheContext context) {
    return DeviceCacheConfig.of(FormatRequest.forCache(spec, context, Optional.of(model)));
  }

  private DeviceCacheConfig estimateConfig(CacheSpec spec, CacheContext context) {
    return DeviceCacheConfig.of(FormatRequest.forEstimate(spec, context, Optional.of(model)));
  }

  /**
   * Includes fp16 pages that wait for the residual window to fill and for a prompt's step to end.
   */
  @Override
  public long maxBytes(CacheSpec spec, CacheContext context, int tokens, int stepTokens) {
    checkOpen();
    List<CacheResources> resources = resources(estimateConfig(spec, context));
    int all = Math.ceilDiv(tokens, Fp16Page.TOKENS);
    if (!resources.getFirst().reservesPacked()) {
      int sinkPages = resources.getFirst().cacheConfig().sinkPages();
      long fp16Bytes = cards.balancedBytes(card -> resources.get(card).bytes(all + 1 + sinkPages));
      return spec.budgetBytes(config.cacheShape(), context)
          .map(budget -> Math.min(fp16Bytes, maxBytesFor(budget, resources)))
          .orElse(fp16Bytes);
    }
    int block = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
    int unpacked =
        Math.ceilDiv(
                resources.getFirst().cacheConfig().window()
                    + block
                    + spec.longestStep(tokens, stepTokens),
                Fp16Page.TOKENS)
            + 1;
    return cards.balancedBytes(
        card -> {
          CacheResources own = resources.get(card);
          CacheShape shape = cards.all().get(card).config().cacheShape();
          PageFormat format = own.cacheConfig().format();
          int fp16Pages = own.cacheConfig().sinkPages() + Math.min(all + 1, unpacked);
          return (all + 1) * own.packedPool().totalPageBytes()
              + fp16Pages * own.fp16Pool().totalPageBytes()
              + format.tablePages(tokens / block) * own.tableBytes()
              + format.extraBytes(spec, context, shape, tokens / block);
        });
  }

  /**
   * Adds a third of the budget, since scales for 32 numbers take a third more at 2 bits. Sinks and
   * the block being filled have whole pages.
   */
  private static long maxBytesFor(long budget, List<CacheResources> resources) {
    int sinkPages = resources.getFirst().cacheConfig().sinkPages();
    int pagesInPart = sinkPages + Fp16Page.BLOCK_PAGES;
    return budget + budget / 3 + resources.stream().mapToLong(own -> own.bytes(pagesInPart)).sum();
  }

  @Override
  public long sharedBytes(CacheSpec spec, CacheContext context) {
    DeviceCacheConfig estimated = estimateConfig(spec, context);
    cards.all().forEach(card -> estimated.ofLayers(card.range())); // rejects what has no parts
    return estimated.format().sharedBytes(config.cacheShape());
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
      deviceStep.run(batch);
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i)) {
        batch.cache(i).commit(batch.endRow(i) - batch.firstRow(i));
      }
    }
  }

  /**
   * Reserves memory for a sequence; only that sequence fails if there is none. This runs without
   * the lock, which sequences that free memory may need. A closed pool throws.
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

  /** Runs a step without overlap and returns the microseconds of its parts by name. */
  public Map<String, Double> profileStep(Batch batch) {
    try (StepProfiler clock = new StepProfiler()) {
      cards.chain().setListener(clock);
      step(batch);
      return clock.micros();
    } finally {
      cards.chain().setListener(StepTimingListener.NONE);
    }
  }

  /** Fills all pages with random numbers for benchmarks. */
  public void fillRandom() {
    lock.lock();
    try {
      checkOpen();
      cards.fillRandom();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until all submitted work has run, for benchmarks. */
  public void synchronize() {
    lock.lock();
    try {
      checkOpen();
      cards.synchronize();
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
        Resources.closeAll(cards, model.tables());
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Times the parts of a step with device events inside a graph, so that no launch waits for the
   * host.
   */
  private static final class StepProfiler implements StepTimingListener, AutoCloseable {
    private record Mark(String part, CudaEvent event) {}

    private final List<Mark> marks = new ArrayList<>();

    @Override
    public void begin(CudaStream stream) {
      end(stream, "");
    }

    @Override
    public void end(CudaStream stream, String part) {
      CudaEvent event = CudaEvent.open();
      marks.add(new Mark(part, event));
      event.recordInGraph(stream);
    }

    /** Returns the total microseconds of each part. The step must have completed. */
    Map<String, Double> micros() {
      Map<String, Double> sums = new LinkedHashMap<>();
      for (int i = 1; i < marks.size(); i++) {
        Mark mark = marks.get(i);
        if (!mark.part().isEmpty()) {
          double micros = mark.event().microsSince(marks.get(i - 1).event());
          sums.merge(mark.part(), micros, Double::sum);
        }
      }
      return sums;
    }

    @Override
    public void close() {
      Resources.closeAll(
          marks.stream().map(StepProfiler.Mark::event).toArray(AutoCloseable[]::new));
    }
  }
}

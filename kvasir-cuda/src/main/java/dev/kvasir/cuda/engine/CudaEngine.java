package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheContext;
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
import dev.kvasir.cuda.kernels.WeightFormat;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.Fingerprint;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import dev.kvasir.spi.EngineProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A decoder on a CUDA device. Steps from several threads and all other page operations run one
 * after another, in one stream and under one lock.
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
  private final Device device;
  private final DeviceContext deviceContext;
  private final DeviceDecoder decoder;
  private final DeviceStep deviceStep; // used under the lock
  private final ReentrantLock lock;
  private final FormatRequest.LoadedModel model;
  private volatile boolean closed; // set under the lock

  private CudaEngine(
      ModelConfig config, String fingerprint, DeviceContext deviceContext, DeviceDecoder decoder) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.device = deviceContext.device();
    this.deviceContext = deviceContext;
    this.decoder = decoder;
    this.deviceStep = new DeviceStep(decoder, config.vocabulary());
    this.lock = deviceContext.lock();
    this.model = new FormatRequest.LoadedModel(config, new ModelTables());
  }

  /**
   * @throws DeviceException if there is too little memory; none stays allocated then
   */
  static CudaEngine open(Device device, EngineProvider.LoadRequest request) {
    ModelConfig config = request.config();
    return open(
        device,
        config,
        Fingerprint.of(config, request.file()),
        request.cacheBytes(),
        deviceContext -> deviceContext.loadWeights(request.file(), config, request.progress()));
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
    return open(
        device,
        config,
        "random",
        Long.MAX_VALUE,
        deviceContext -> deviceContext.randomWeights(config, type));
  }

  private static CudaEngine open(
      Device device,
      ModelConfig config,
      String fingerprint,
      long cacheBytes,
      Function<DeviceContext, DeviceWeights> loader) {
    DeviceContext deviceContext = DeviceContext.open(device);
    try {
      DeviceDecoder decoder =
          deviceContext.newDecoder(config, loader.apply(deviceContext), MAX_ROWS);
      deviceContext.openCacheMemory(config, cacheBytes, MAX_ROWS);
      return new CudaEngine(config, fingerprint, deviceContext, decoder);
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, deviceContext);
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
  public String device() {
    return device.name();
  }

  @Override
  public CacheContext cacheContext() {
    return CacheContext.unknown()
        .withQueryHeads(config.queryHeads())
        .withMemory(deviceContext.memory());
  }

  @Override
  public long weightBytes() {
    return decoder.weightBytes();
  }

  @Override
  public MemoryPool memory() {
    return deviceContext.memory();
  }

  /** Returns the allocated bytes of the device. */
  public long bytes() {
    return deviceContext.bytes();
  }

  @Override
  public KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    checkOpen();
    CacheContext context = cacheContext().withProfile(profile).withContextLimit(contextLimit);
    DeviceCacheConfig cacheConfig = cacheConfig(spec, context);
    if (!cacheConfig.format().requantizes()) {
      return newCache(cacheConfig).deferringPrompts(spec.defersPrompts());
    }
    CacheResources resources = resources(cacheConfig);
    PageWidths widths =
        PageWidths.of(
            spec, config.cacheShape(), context, resources.levels().groups().firstLayers());
    return new DeviceCache(resources, config.cacheShape(), new RequantizingPages(resources, widths))
        .deferringPrompts(spec.defersPrompts());
  }

  public DeviceCache newCache(DeviceCacheConfig cacheConfig) {
    if (cacheConfig.format().requantizes()) {
      throw new DeviceException(
          "pages of '%s' are requantized under a budget; expected a cache that has one"
              .formatted(cacheConfig.format()));
    }
    return new DeviceCache(resources(cacheConfig), config.cacheShape());
  }

  private CacheResources resources(DeviceCacheConfig cacheConfig) {
    lock.lock();
    try {
      checkOpen();
      return deviceContext.resources(cacheConfig);
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
    CacheResources resources = resources(cacheConfig(spec, context));
    return DeviceCache.restore(resources, config.cacheShape(), snapshot)
        .deferringPrompts(spec.defersPrompts());
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
    CacheResources resources = resources(estimateConfig(spec, context));
    int all = Math.ceilDiv(tokens, Fp16Page.TOKENS);
    if (!resources.reservesPacked()) {
      long fp16Bytes = resources.bytes(all + 1 + resources.cacheConfig().sinkPages());
      return spec.budgetBytes(config.cacheShape(), context)
          .map(budget -> Math.min(fp16Bytes, maxBytesFor(budget, resources)))
          .orElse(fp16Bytes);
    }
    int block = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
    int unpacked =
        Math.ceilDiv(
                resources.cacheConfig().window() + block + spec.longestStep(tokens, stepTokens),
                Fp16Page.TOKENS)
            + 1;
    PageFormat format = resources.cacheConfig().format();
    int fp16Pages = resources.cacheConfig().sinkPages() + Math.min(all + 1, unpacked);
    return (all + 1) * resources.packedPool().totalPageBytes()
        + fp16Pages * resources.fp16Pool().totalPageBytes()
        + format.tablePages(tokens / block) * resources.tableBytes()
        + format.extraBytes(spec, context, config.cacheShape(), tokens / block);
  }

  /**
   * Adds a third of the budget, since scales for 32 numbers take a third more at 2 bits. Sinks and
   * the block being filled have whole pages.
   */
  private static long maxBytesFor(long budget, CacheResources resources) {
    int pagesInPart = resources.cacheConfig().sinkPages() + Fp16Page.BLOCK_PAGES;
    return budget + budget / 3 + resources.bytes(pagesInPart);
  }

  @Override
  public long sharedBytes(CacheSpec spec, CacheContext context) {
    return estimateConfig(spec, context).format().sharedBytes(config.cacheShape());
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
      deviceContext.enter();
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
      decoder.setListener(clock);
      step(batch);
      return clock.micros();
    } finally {
      decoder.setListener(StepTimingListener.NONE);
    }
  }

  /** Fills all pages with random numbers for benchmarks. */
  public void fillRandom() {
    lock.lock();
    try {
      checkOpen();
      deviceContext.fillRandom();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until all submitted work has run, for benchmarks. */
  public void synchronize() {
    lock.lock();
    try {
      checkOpen();
      deviceContext.synchronize();
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
        Resources.closeAll(deviceContext, model.tables());
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

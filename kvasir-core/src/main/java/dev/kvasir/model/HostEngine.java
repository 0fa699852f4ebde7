package dev.kvasir.model;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Preemption;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Runs a decoder-only transformer on the CPU. Several threads may call {@link #step} at once; each
 * uses its own scratch memory.
 */
public final class HostEngine implements DecoderEngine {
  /**
   * Number of idle passes that are retained: one for the scheduler and one for another caller. The
   * scratch memory of a pass grows with its rows, so passes of a burst are not retained.
   */
  private static final int MAX_IDLE = 2;

  private static final String PROCESSOR = "the processor";

  private final ModelConfig config;
  private final String fingerprint;
  private final Weights weights;
  private final List<Rope> ropes;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MemoryPool memory;
  private final String place;
  private final Optional<OutlierScaling> outliers;
  private final ModelTables tables = new ModelTables();
  private final ArrayBlockingQueue<ForwardPass> idle = new ArrayBlockingQueue<>(MAX_IDLE);
  private volatile boolean closed;

  private HostEngine(
      ModelConfig config,
      String fingerprint,
      Weights weights,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      String device,
      Optional<OutlierScaling> outliers) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.weights = weights;
    this.ropes = config.ropes().kinds().stream().map(ModelConfig.RopeSettings::rope).toList();
    this.kernels = kernels;
    this.workers = workers;
    this.memory = memory;
    this.place = device;
    this.outliers = outliers;
  }

  /**
   * Loads a model from an open GGUF file. The file is closed with the engine, or on failure.
   *
   * @param memory pool for the KV caches of all sequences
   * @param progress called after each loaded layer
   */
  public static HostEngine load(
      GgufFile file,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoadProgress progress) {
    return load(file, OptionalInt.empty(), kernels, workers, memory, progress);
  }

  /**
   * Loads a model for a shorter context, which changes RoPE in some models.
   *
   * @param context most tokens of a sequence; empty for the model's context length
   */
  public static HostEngine load(
      GgufFile file,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoadProgress progress) {
    return load(file, context, kernels, workers, memory, LoraAdapters.NONE, progress);
  }

  /** Loads a model with adapters. */
  public static HostEngine load(
      GgufFile file,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoraAdapters adapters,
      LoadProgress progress) {
    try {
      ModelConfig config = withContext(context, ModelConfig.of(file));
      return load(config, file, TensorNames.GGUF, kernels, workers, memory, adapters, progress);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Loads a model from a Hugging Face folder. */
  public static HostEngine load(
      Path folder, Kernels kernels, WorkerPool workers, MemoryPool memory, LoadProgress progress) {
    return load(folder, OptionalInt.empty(), kernels, workers, memory, progress);
  }

  /** Loads a model from a Hugging Face folder for a shorter context. */
  public static HostEngine load(
      Path folder,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoadProgress progress) {
    return load(folder, context, kernels, workers, memory, LoraAdapters.NONE, progress);
  }

  /** Loads a model from a Hugging Face folder with adapters. */
  public static HostEngine load(
      Path folder,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoraAdapters adapters,
      LoadProgress progress) {
    ModelConfig config = withContext(context, ModelConfig.of(folder));
    SafetensorsFolder file = SafetensorsFolder.open(folder);
    try {
      return load(
          config, file, TensorNames.HUGGING_FACE, kernels, workers, memory, adapters, progress);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static ModelConfig withContext(OptionalInt context, ModelConfig config) {
    return context.isPresent() ? config.withContextLength(context.getAsInt()) : config;
  }

  private static HostEngine load(
      ModelConfig config,
      TensorSource file,
      TensorNames names,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoraAdapters adapters,
      LoadProgress progress) {
    // Compute this first: loading closes the file unless weights stay in its mapping.
    String fingerprint = adapters.identity(Fingerprint.of(config, file));
    Weights weights = WeightsLoader.load(config, file, names, kernels, adapters, progress);
    return new HostEngine(
        config, fingerprint, weights, kernels, workers, memory, PROCESSOR, Optional.empty());
  }

  /**
   * Returns this engine with a device name that states why it replaces another device. It must not
   * have run yet; use the result in its place.
   *
   * @param refusal the device's reason, as a sentence
   */
  public HostEngine asFallback(String refusal) {
    String because = "%s: %s".formatted(PROCESSOR, refusal);
    return new HostEngine(
        config, fingerprint, weights, kernels, workers, memory, because, outliers);
  }

  /**
   * Returns this engine with outliers in its keys. It must not have run yet; use the result in its
   * place. Profiles of the model do not fit its keys, so its fingerprint is another one.
   *
   * @throws dev.kvasir.error.InvalidInputException if the model has no keys to scale
   */
  public HostEngine withOutliers(KeyOutliers added) {
    added.requirePossible(config);
    return new HostEngine(
        config,
        "%s, outliers %s".formatted(fingerprint, added),
        weights,
        kernels,
        workers,
        memory,
        place,
        Optional.of(new OutlierScaling(added, config)));
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
    return place;
  }

  @Override
  public Optional<KeyOutliers> outliers() {
    return outliers.map(OutlierScaling::outliers);
  }

  @Override
  public boolean givesHiddenStates() {
    return true;
  }

  @Override
  public CacheContext cacheContext() {
    return CacheContext.unknown()
        .withQueryHeads(config.queryHeads())
        .withRotations(config.rotations(ropes))
        .withTables(Optional.of(tables))
        .withMemory(memory)
        .withKernels(kernels)
        .withWorkers(workers);
  }

  @Override
  public KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    checkOpen();
    CacheContext context = cacheContext().withProfile(profile).withContextLimit(contextLimit);
    return spec.newCache(config.cacheShape(), context);
  }

  @Override
  public KvCache restoreCache(
      CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheSnapshot snapshot) {
    checkOpen();
    CacheContext context = cacheContext().withProfile(profile).withContextLimit(contextLimit);
    return spec.restore(config.cacheShape(), context, snapshot);
  }

  @Override
  public MemoryPool memory() {
    return memory;
  }

  @Override
  public Weights weights() {
    checkOpen();
    return weights;
  }

  @Override
  public long weightBytes() {
    return weights.bytes();
  }

  @Override
  public long maxBytes(CacheSpec spec, CacheContext context, int tokens, int stepTokens) {
    return spec.maxBytes(config.cacheShape(), context, tokens, stepTokens);
  }

  @Override
  public long sharedBytes(CacheSpec spec, CacheContext context) {
    return spec.sharedBytes(config.cacheShape(), context);
  }

  @Override
  public boolean isPreemptible() {
    return true;
  }

  @Override
  public void step(Batch batch) {
    step(batch, null);
  }

  /**
   * {@inheritDoc}
   *
   * <p>An interrupted step keeps its pass, and with it all intermediate results; a step in its
   * midst gets another one.
   */
  @Override
  public void step(Batch batch, Preemption preemption) {
    checkOpen();
    weights.requireIntact();
    checkTokens(batch);
    ForwardPass pass = idle.poll();
    if (pass == null) {
      pass = new ForwardPass(config, weights, ropes, outliers, kernels, workers);
    }
    batch.pin();
    try {
      pass.run(batch, preemption);
    } finally {
      batch.unpin();
    }
    idle.offer(pass);
  }

  @Override
  public boolean verifiesDrafts() {
    return true;
  }

  @Override
  public boolean isIntact() {
    return weights.areIntact();
  }

  /** Returns the number of idle passes, whose memory is retained. */
  int idlePasses() {
    return idle.size();
  }

  private void checkTokens(Batch batch) {
    if (batch.rows() == 0) {
      throw new IllegalArgumentException("the batch has no rows");
    }
    SizeLimits.check(config, batch);
    for (int row = 0; row < batch.rows(); row++) {
      int token = batch.token(row);
      if (token < 0 || token >= config.vocabulary()) {
        throw new IllegalArgumentException(
            "token is %d; expected 0 to %d".formatted(token, config.vocabulary() - 1));
      }
      if (batch.position(row) >= config.contextLength()) {
        throw new IllegalArgumentException(
            "position is %d; the context holds %d"
                .formatted(batch.position(row), config.contextLength()));
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
  }

  @Override
  public void close() {
    closed = true;
    idle.clear();
    tables.close();
    weights.close();
  }
}

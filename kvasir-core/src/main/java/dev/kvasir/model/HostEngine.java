package dev.kvasir.model;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.engine.Batch;
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
 * A decoder-only transformer, ready to run. Steps may come from several threads at once: each takes
 * scratch memory of its own and gives it back.
 */
public final class HostEngine implements DecoderEngine {
  /**
   * Passes that are kept for the next step: one for the loop of steps, one for whoever steps beside
   * it. The scratch memory of one grows with the rows it has met, so those of a crowd that came
   * once are not kept.
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
      String device) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.weights = weights;
    this.ropes = config.ropes().kinds().stream().map(ModelConfig.RopeSettings::rope).toList();
    this.kernels = kernels;
    this.workers = workers;
    this.memory = memory;
    this.place = device;
  }

  /**
   * Takes over an open GGUF file, which is closed with the engine or when it is refused.
   *
   * @param memory that keys and values of all sequences are taken from
   * @param progress told after each layer that is loaded
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
   * The same for texts of fewer tokens than the model can hold, which some models turn otherwise.
   *
   * @param context their tokens; all that the model can hold where none are given
   */
  public static HostEngine load(
      GgufFile file,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoadProgress progress) {
    try {
      ModelConfig config = withContext(context, ModelConfig.of(file));
      return load(config, file, TensorNames.GGUF, kernels, workers, memory, progress);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Reads a folder as Hugging Face lays it out. */
  public static HostEngine load(
      Path folder, Kernels kernels, WorkerPool workers, MemoryPool memory, LoadProgress progress) {
    return load(folder, OptionalInt.empty(), kernels, workers, memory, progress);
  }

  /** The same for texts of fewer tokens than the model can hold. */
  public static HostEngine load(
      Path folder,
      OptionalInt context,
      Kernels kernels,
      WorkerPool workers,
      MemoryPool memory,
      LoadProgress progress) {
    ModelConfig config = withContext(context, ModelConfig.of(folder));
    SafetensorsFolder file = SafetensorsFolder.open(folder);
    try {
      return load(config, file, TensorNames.HUGGING_FACE, kernels, workers, memory, progress);
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
      LoadProgress progress) {
    // Loading closes a file that no weights are used from where it is mapped.
    String fingerprint = Fingerprint.of(config, file);
    Weights weights = WeightsLoader.load(config, file, names, kernels, progress);
    return new HostEngine(config, fingerprint, weights, kernels, workers, memory, PROCESSOR);
  }

  /**
   * The same, before its first step, in place of this one; it says why it computes here.
   *
   * @param refusal the device's sentence
   */
  public HostEngine asFallback(String refusal) {
    String because = "%s: %s".formatted(PROCESSOR, refusal);
    return new HostEngine(config, fingerprint, weights, kernels, workers, memory, because);
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
  public CacheContext cacheContext() {
    return CacheContext.unknown()
        .withQueryHeads(config.queryHeads())
        .withRotation(config.sharedRotation().map(_ -> ropes.getFirst()))
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
  public void step(Batch batch) {
    checkOpen();
    checkTokens(batch);
    ForwardPass pass = idle.poll();
    if (pass == null) {
      pass = new ForwardPass(config, weights, ropes, kernels, workers);
    }
    batch.pin();
    try {
      pass.run(batch);
    } finally {
      batch.unpin();
    }
    idle.offer(pass);
  }

  /** Passes whose memory waits for the next step. */
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

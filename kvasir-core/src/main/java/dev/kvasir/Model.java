package dev.kvasir;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.engine.StepListener;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.ResourceBytes;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Weights;
import dev.kvasir.profile.Profile;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.ProfileHash;
import dev.kvasir.stored.WeightsHash;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A loaded language model. Several threads may use its sessions at once. Closing the model frees
 * all off-heap memory; using it after that is an error.
 */
public final class Model implements AutoCloseable {
  /** The resource of the bundled model, in the module kvasir-mini. */
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  /** The resource of its calibration profile. */
  private static final String BUNDLED_PROFILE = "/dev/kvasir/mini/kvasir-mini.profile.safetensors";

  private final String name;
  private final DecoderEngine engine;
  private final Tokenizer tokenizer;
  private final Optional<Profile> profile;
  private final Supplier<String> weightsHash;
  private final Map<Set<String>, String> profileHashes = new ConcurrentHashMap<>(); // by parts
  private final WorkerPool workers;
  private final Scheduler scheduler;
  private final PrefixCache prefixes;
  private volatile boolean closed;

  private Model(
      String name,
      DecoderEngine engine,
      Tokenizer tokenizer,
      Optional<Profile> profile,
      Supplier<String> weightsHash,
      WorkerPool workers) {
    this.name = name;
    this.engine = engine;
    this.tokenizer = tokenizer;
    this.profile = profile.map(given -> given.requireModel(engine.fingerprint(), name));
    this.weightsHash = weightsHash;
    this.workers = workers;
    this.scheduler = new Scheduler(engine);
    this.prefixes = new PrefixCache(engine.memory());
  }

  /** Loads a GGUF file, any part of a split model, or a Hugging Face folder. */
  public static Model load(Path fileOrFolder) {
    return load(fileOrFolder, LoadOptions.defaults());
  }

  public static Model load(Path fileOrFolder, LoadOptions options) {
    return Files.isDirectory(fileOrFolder)
        ? loadFolder(fileOrFolder, options)
        : loadGguf(
            GgufFile.open(fileOrFolder),
            () -> WeightsHash.of(fileOrFolder, () -> GgufFile.open(fileOrFolder)),
            options);
  }

  /** Loads the small model of the module kvasir-mini. */
  public static Model bundled() {
    return bundled(LoadOptions.defaults());
  }

  public static Model bundled(LoadOptions options) {
    Tokenizer.preloadByteLevel();
    Optional<Profile> own = options.profile().isPresent() ? Optional.empty() : bundledProfile();
    return loadGguf(
        openBundled(), Model::bundledHash, own.map(options::withProfile).orElse(options));
  }

  /** Returns the calibration profile of the bundled model, if it has one. */
  public static Optional<Profile> bundledProfile() {
    return Optional.ofNullable(Model.class.getResource(BUNDLED_PROFILE))
        .map(resource -> ResourceBytes.of(resource, Arena.ofAuto()))
        .map(bytes -> Profile.of("the bundled profile", bytes));
  }

  /** Opens the file of the bundled model for inspection. */
  public static GgufFile openBundled() {
    URL resource = Model.class.getResource(BUNDLED);
    if (resource == null) {
      throw new InvalidInputException(
          "no model was given and none is bundled; add the module kvasir-mini to the class path");
    }
    Arena arena = Arena.ofShared();
    try {
      return GgufFile.of("kvasir-mini", ResourceBytes.of(resource, arena), arena);
    } catch (UncheckedIOException e) {
      arena.close();
      throw e;
    }
  }

  private static String bundledHash() {
    try (GgufFile file = openBundled()) {
      return WeightsHash.of(file);
    }
  }

  private static Model loadGguf(GgufFile file, Supplier<String> hash, LoadOptions options) {
    try {
      return load(
          file.name(),
          options,
          hash,
          () -> Tokenizer.ofGguf(file.name(), file.metadata()),
          workers -> new EngineChoice(options, workers).load(file));
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static Model loadFolder(Path folder, LoadOptions options) {
    return load(
        folder.toString(),
        options,
        () -> WeightsHash.of(folder, () -> SafetensorsFolder.open(folder)),
        () -> Tokenizer.ofFolder(folder),
        workers -> new EngineChoice(options, workers).load(folder));
  }

  /** Loads the tokenizer and the weights in parallel. */
  private static Model load(
      String name,
      LoadOptions options,
      Supplier<String> weightsHash,
      Supplier<Tokenizer> tokenizerLoader,
      Function<WorkerPool, DecoderEngine> engineLoader) {
    CompletableFuture<Tokenizer> tokenizer = CompletableFuture.supplyAsync(tokenizerLoader);
    WorkerPool workers = new WorkerPool(options.threads());
    DecoderEngine engine = null;
    try {
      engine = engineLoader.apply(workers);
      return new Model(
          name, engine, tokenizer.join(), options.profile(), new Lazy<>(weightsHash), workers);
    } catch (RuntimeException | Error e) {
      workers.close();
      if (engine != null) {
        engine.close();
      }
      tokenizer.thenAccept(Tokenizer::close);
      if (e instanceof CompletionException && e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** Returns the file or folder that it was loaded from. */
  public String name() {
    return name;
  }

  public ModelConfig config() {
    return engine.config();
  }

  /** Returns a description of the device that it computes on. */
  public String device() {
    return engine.device();
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /**
   * Returns the weights for code that computes with them, such as gradients; valid until the model
   * is closed.
   */
  public Weights weights() {
    return engine.weights();
  }

  /** Returns the bytes of the weights in memory. */
  public long weightBytes() {
    return engine.weightBytes();
  }

  /**
   * Returns the chat template of its files.
   *
   * @throws InvalidInputException if there is none, or it uses unsupported features
   */
  public ChatTemplate chatTemplate() {
    String source =
        tokenizer
            .chatTemplate()
            .orElseThrow(() -> new InvalidInputException(name + ": carries no chat template"));
    return ChatTemplate.of(source, "chat template of " + name, tokenizer);
  }

  /** Returns a short identifier of its weights and shape, which profiles refer to. */
  public String fingerprint() {
    return engine.fingerprint();
  }

  /** Rejects a model whose sequences cannot be stored. */
  public void requireStorable() {
    if (!engine.storesSequences()) {
      throw new InvalidInputException(
          "%s: its sequences lie on %s and cannot be stored; expected no store, or the device cpu"
              .formatted(name, engine.device()));
    }
  }

  /** Returns its calibration profile. */
  public Optional<Profile> profile() {
    return profile;
  }

  /** Creates an empty cache for a sequence up to the model's context length. */
  public KvCache newCache(CacheSpec spec) {
    return newCache(spec, config().contextLength());
  }

  /**
   * Creates an empty cache.
   *
   * @param contextLimit maximum tokens of the sequence
   */
  public KvCache newCache(CacheSpec spec, int contextLimit) {
    checkOpen();
    return engine.newCache(spec, profile, contextLimit);
  }

  CacheContext cacheContext() {
    return engine.cacheContext().withProfile(profile);
  }

  /** Returns a specification whose text includes what this model's profile decides. */
  public CacheSpec resolve(CacheSpec spec) {
    return spec.resolve(cacheContext());
  }

  /**
   * Returns the bytes that a session never exceeds while it grows to {@code tokens} tokens. Where
   * sizes depend on the vectors, this is the typical value.
   */
  public long maxCacheBytes(SessionOptions options, int tokens) {
    CacheContext context = cacheContext().withContextLimit(Session.contextLimit(this, options));
    return engine.maxBytes(options.cache(), context, tokens, Request.PREFILL_STEP);
  }

  /**
   * Returns the bytes of tables that all sessions with a cache specification share, in addition to
   * their own.
   */
  public long sharedCacheBytes(CacheSpec spec) {
    return engine.sharedBytes(spec, cacheContext());
  }

  /** Returns the pool of all KV caches, those of sessions included. */
  public MemoryPool cacheMemory() {
    return engine.memory();
  }

  /** Sets a listener of the steps and quantizations of its sessions. */
  public void setStepListener(StepListener stepListener) {
    scheduler.stepListener(stepListener);
  }

  public Session newSession() {
    return newSession(SessionOptions.defaults());
  }

  public Session newSession(SessionOptions options) {
    checkOpen();
    return new Session(this, options);
  }

  /**
   * Opens a session with a text. A prefix that other sessions have computed is not prefilled again,
   * and this session's prefixes are cached for others while memory allows ({@link #prefixes}). Its
   * first {@link Session#generate(int[], GenerateOptions, GenerationListener)} takes no further
   * tokens. The result is the same as without a cached prefix.
   *
   * @param owner identifies the prefixes it adds, so that they can be removed; may be null
   */
  public Session newSession(SessionOptions options, int[] text, String owner) {
    checkOpen();
    return Session.open(this, options, text, owner);
  }

  /** Returns the cached prefixes that sessions share. */
  public PrefixCache prefixes() {
    return prefixes;
  }

  void checkIds(int[] tokens) {
    int vocabulary = config().vocabulary();
    for (int id : tokens) {
      if (id < 0 || id >= vocabulary) {
        throw new IllegalArgumentException(
            "token is %d; expected 0 to %d".formatted(id, vocabulary - 1));
      }
    }
  }

  /**
   * Returns everything besides tokens that stored keys and values depend on. The first call reads
   * all weights unless their hash is cached next to them.
   */
  public Identity identity(SessionOptions options) {
    CacheContext context = cacheContext().withContextLimit(Session.contextLimit(this, options));
    CacheSpec spec = options.cache();
    return new Identity(
        weightsHash.get(),
        fingerprint(),
        spec.resolve(context).text(),
        profileHashes.computeIfAbsent(spec.config().profileParts(), this::profileHash),
        spec.dependsOnContextLimit(config().cacheShape(), context) ? context.contextLimit() : 0,
        options.tenant());
  }

  private String profileHash(Set<String> parts) {
    return profile.map(known -> ProfileHash.of(known, parts)).orElse("");
  }

  /**
   * Restores a saved session with its options; it continues bit-identically. If its cache reads
   * blocks in place, the first step checks them and rejects damage. The file may be replaced or
   * deleted meanwhile, but must not be modified.
   *
   * @throws InvalidInputException if the file is damaged or belongs to another model or profile;
   *     the message is one sentence
   */
  public Session restore(Path file) {
    checkOpen();
    return SavedSession.restore(this, file);
  }

  /**
   * Restores a saved session with another cache specification, converted by {@link
   * Session#convertedTo}.
   */
  public Session restore(Path file, CacheSpec other) {
    Session saved = restore(file);
    if (saved.options().cache().text().equals(other.text())) {
      return saved;
    }
    try (saved) {
      return saved.convertedTo(other);
    }
  }

  /**
   * Restores the cache of a sequence that was stored with the {@link #identity} of these options.
   *
   * @throws InvalidInputException if a bit has changed; the message is one sentence
   * @throws dev.kvasir.cache.CacheFullException if there is too little memory
   */
  public KvCache restoreCache(SessionOptions options, CacheSnapshot snapshot) {
    checkOpen();
    int limit = Session.contextLimit(this, options);
    return engine.restoreCache(options.cache(), profile, limit, snapshot);
  }

  /** Returns the scheduler of all sessions. */
  Scheduler scheduler() {
    return scheduler;
  }

  /**
   * Runs one step over rows of any number of sequences, so that the weights are read once for all.
   */
  public void forward(Batch batch) {
    engine.forward(batch);
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
  }

  @Override
  public void close() {
    closed = true;
    prefixes.close();
    engine.close();
    tokenizer.close();
    workers.close();
  }
}

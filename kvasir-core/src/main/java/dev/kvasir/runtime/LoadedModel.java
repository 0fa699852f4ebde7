package dev.kvasir.runtime;

import dev.kvasir.KvCacheSpec;
import dev.kvasir.Model;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.choice.CacheFigures;
import dev.kvasir.choice.ChoiceRequest;
import dev.kvasir.choice.UserFolder;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.encoder.BertEncoder;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Drafter;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.engine.StepListener;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Weights;
import dev.kvasir.profile.Profile;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.ProfileHash;
import dev.kvasir.stored.WeightsHash;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The implementation of {@link Model}, with what modules of Kvasir use besides. */
public final class LoadedModel implements Model {
  private final String name;
  private final DecoderEngine engine;
  private final Tokenizer tokenizer;
  private final Optional<Profile> profile;
  private final Supplier<String> weightsHash;
  private final Map<Set<String>, String> profileHashes = new ConcurrentHashMap<>(); // by parts
  private final WorkerPool workers;
  private final Drafting drafting;
  private final Scheduler scheduler;
  private final PrefixCache prefixes;
  private volatile boolean closed;

  private LoadedModel(
      String name,
      DecoderEngine engine,
      Tokenizer tokenizer,
      Optional<Profile> profile,
      Supplier<String> weightsHash,
      WorkerPool workers,
      EngineOptions options) {
    this.name = name;
    this.engine = engine;
    this.tokenizer = tokenizer;
    this.profile = profile.map(given -> given.requireModel(engine.fingerprint(), name));
    this.weightsHash = weightsHash;
    this.workers = workers;
    this.drafting = Drafting.of(options, name, engine, tokenizer);
    this.scheduler = new Scheduler(engine);
    this.prefixes = new PrefixCache(engine.memory());
  }

  /**
   * Returns the implementation of a model.
   *
   * @throws IllegalArgumentException if it is a foreign one
   */
  public static LoadedModel of(Model model) {
    if (model instanceof LoadedModel loaded) {
      return loaded;
    }
    throw new IllegalArgumentException(
        "the model is a %s; expected one of Model.load".formatted(model.getClass().getName()));
  }

  /** Loads a GGUF file, any part of a split model, or a Hugging Face folder. */
  public static LoadedModel load(Path fileOrFolder) {
    return load(fileOrFolder, EngineOptions.defaults());
  }

  public static LoadedModel load(Path fileOrFolder, EngineOptions options) {
    return load(fileOrFolder, options, new MemoryPool(options.cacheBytes()));
  }

  /**
   * Loads a model whose KV caches share memory with those of another one.
   *
   * @param memory used instead of the bytes of the options
   */
  static LoadedModel load(Path fileOrFolder, EngineOptions options, MemoryPool memory) {
    return Files.isDirectory(fileOrFolder)
        ? loadFolder(fileOrFolder, options, memory)
        : loadGguf(
            GgufFile.open(fileOrFolder),
            () -> WeightsHash.of(fileOrFolder, () -> GgufFile.open(fileOrFolder)),
            fingerprint -> profile(fileOrFolder, fingerprint, options),
            options,
            memory);
  }

  /** Loads the small model of the module kvasir-mini. */
  public static LoadedModel bundled() {
    return bundled(EngineOptions.defaults());
  }

  public static LoadedModel bundled(EngineOptions options) {
    Tokenizer.preloadByteLevel();
    boolean hasOwn =
        options.profile().isEmpty() && options.outliers().isEmpty() && options.adapters().isEmpty();
    Optional<Profile> own = hasOwn ? BundledFiles.profile() : Optional.empty();
    return loadGguf(
        BundledFiles.open(),
        BundledFiles::hash,
        unused -> own.or(options::profile),
        options,
        new MemoryPool(options.cacheBytes()));
  }

  /** Returns the given profile, or the one that belongs to the files. */
  private static Optional<Profile> profile(
      Path fileOrFolder, String fingerprint, EngineOptions options) {
    if (options.profile().isPresent() || options.outliers().isPresent()) {
      return options.profile();
    }
    ProfileSearch search = ProfileSearch.of(fileOrFolder, fingerprint, UserFolder.ofThisProcess());
    if (!search.rejected().isEmpty()) {
      // Only here, because creating a logger adds tens of milliseconds to startup.
      System.Logger log = System.getLogger(LoadedModel.class.getName());
      search.rejected().forEach(sentence -> log.log(System.Logger.Level.WARNING, sentence));
    }
    return search.profile();
  }

  private static LoadedModel loadGguf(
      GgufFile file,
      Supplier<String> hash,
      Function<String, Optional<Profile>> profile,
      EngineOptions options,
      MemoryPool memory) {
    try {
      refuseEncoder(BertEncoder.isEncoder(file), file.name());
      return load(
          file.name(),
          options,
          hash,
          profile,
          () -> Tokenizer.ofGguf(file.name(), file.metadata()),
          (adapters, workers) -> new EngineChoice(options, adapters, workers, memory).load(file));
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static void refuseEncoder(boolean isEncoder, String name) {
    if (isEncoder) {
      throw new InvalidInputException(
          "%s: is an encoder, which generates no text; 'kvasir serve --model %s' makes embeddings"
              .formatted(name, name));
    }
  }

  private static LoadedModel loadFolder(Path folder, EngineOptions options, MemoryPool memory) {
    refuseEncoder(EncoderModel.isAt(folder), folder.toString());
    return load(
        folder.toString(),
        options,
        () -> WeightsHash.of(folder, () -> SafetensorsFolder.open(folder)),
        fingerprint -> profile(folder, fingerprint, options),
        () -> Tokenizer.ofFolder(folder),
        (adapters, workers) -> new EngineChoice(options, adapters, workers, memory).load(folder));
  }

  /**
   * Loads the tokenizer and the weights in parallel.
   *
   * @param profile returns the profile of the model with a fingerprint
   */
  private static LoadedModel load(
      String name,
      EngineOptions options,
      Supplier<String> weightsHash,
      Function<String, Optional<Profile>> profile,
      Supplier<Tokenizer> tokenizerLoader,
      BiFunction<LoraAdapters, WorkerPool, DecoderEngine> engineLoader) {
    CompletableFuture<Tokenizer> tokenizer = CompletableFuture.supplyAsync(tokenizerLoader);
    WorkerPool workers = new WorkerPool(options.threads());
    DecoderEngine engine = null;
    try {
      LoraAdapters adapters = LoraAdapters.read(options.adapters());
      engine = engineLoader.apply(adapters, workers);
      return new LoadedModel(
          name,
          engine,
          tokenizer.join(),
          profile.apply(engine.fingerprint()),
          new Lazy<>(identity(adapters, weightsHash)),
          workers,
          options);
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

  /** Adapters change keys and values as other weights do. */
  private static Supplier<String> identity(LoraAdapters adapters, Supplier<String> weightsHash) {
    UnaryOperator<String> identities = adapters.identities();
    return () -> identities.apply(weightsHash.get());
  }

  @Override
  public String name() {
    return name;
  }

  public ModelConfig config() {
    return engine.config();
  }

  @Override
  public int contextLength() {
    return config().contextLength();
  }

  @Override
  public String device() {
    return engine.device();
  }

  @Override
  public int[] encode(String text) {
    return tokenizer.encode(text, false);
  }

  @Override
  public String decode(int... tokens) {
    return tokenizer.decode(tokens);
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

  @Override
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

  /** Returns whether a batch may request hidden states. */
  boolean givesHiddenStates() {
    return engine.givesHiddenStates();
  }

  /** Returns false if its file cannot be read any more, so that it must be loaded again. */
  public boolean isIntact() {
    return engine.isIntact();
  }

  /** Returns the row of the output matrix that makes a token's logit. */
  float[] outputRow(int token) {
    float[] row = new float[config().hidden()];
    cacheContext().kernels().expand(weights().output(), token, 1, row, 0);
    return row;
  }

  /**
   * Checks that sequences with a cache can be stored.
   *
   * @throws InvalidInputException with one sentence if they cannot
   */
  public void requireStorable(CacheSpec spec) {
    engine.requireStorable(spec);
  }

  /** Returns its calibration profile. */
  public Optional<Profile> profile() {
    return profile;
  }

  /** Returns a sentence that warns of a profile that may not suit a cache; empty if it does. */
  public Optional<String> warning(CacheSpec spec) {
    return profile.flatMap(spec.config()::warning);
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
    return newCache(spec, profile, contextLimit);
  }

  /**
   * Creates an empty cache with another profile, such as one that is being calibrated.
   *
   * @param calibrated profile of this model
   */
  public KvCache newCache(CacheSpec spec, Optional<Profile> calibrated, int contextLimit) {
    checkOpen();
    return engine.newCache(spec, calibrated, contextLimit);
  }

  CacheContext cacheContext() {
    return engine.cacheContext().withProfile(profile);
  }

  /** Returns the name in its file, and what distinguishes it from that file. */
  public String description() {
    return engine
        .outliers()
        .map(added -> "%s with outliers %s".formatted(config().name(), added))
        .orElse(config().name());
  }

  /** Returns the name of the kernels that it computes with. */
  public String kernels() {
    return cacheContext().kernels().name();
  }

  /** Returns a specification whose text includes what this model's profile decides. */
  public CacheSpec resolve(CacheSpec spec) {
    return spec.resolve(cacheContext());
  }

  @Override
  public long maxCacheBytes(SessionOptions options, int tokens) {
    int contextLimit = ModelSession.contextLimit(this, options);
    CacheContext context = cacheContext().withContextLimit(contextLimit);
    long own =
        engine.maxBytes(
            CacheSpec.of(options.cache()).withPrefill(options.prefill()),
            context,
            tokens,
            Request.PREFILL_STEP);
    return own + drafting.maxBytes(contextLimit, tokens);
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

  @Override
  public KvCacheSpec chooseCache(int tokens, long bytes) {
    checkOpen();
    int longest = Math.min(tokens, contextLength());
    ChoiceRequest request =
        new ChoiceRequest(
            config().cacheShape(),
            cacheContext(),
            longest,
            Request.PREFILL_STEP,
            bytes - drafting.maxBytes(contextLength(), longest),
            this::isSupported);
    return CacheChoice.choose(
            request,
            CacheFigures.ofModel(
                fingerprint(), config().architecture().identifier(), UserFolder.ofThisProcess()))
        .spec();
  }

  /** Devices reject caches that they have no kernels for; asking for a size allocates nothing. */
  private boolean isSupported(CacheSpec spec) {
    try {
      engine.sharedBytes(spec, cacheContext());
      return true;
    } catch (InvalidInputException e) {
      return false;
    }
  }

  @Override
  public ModelSession newSession() {
    return newSession(SessionOptions.defaults());
  }

  @Override
  public ModelSession newSession(SessionOptions options) {
    checkOpen();
    return new ModelSession(this, options);
  }

  /**
   * Opens a session with a text. A prefix that other sessions have computed is not prefilled again,
   * and this session's prefixes are cached for others while memory allows ({@link #prefixes}). Its
   * first {@link ModelSession#generate(int[], GenerateOptions, GenerationListener)} takes no
   * further tokens. The result is the same as without a cached prefix.
   *
   * @param owner identifies the prefixes it adds, so that they can be removed; may be null
   */
  public ModelSession newSession(SessionOptions options, int[] text, String owner) {
    checkOpen();
    return ModelSession.open(this, options, text, owner);
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
    CacheContext context =
        cacheContext().withContextLimit(ModelSession.contextLimit(this, options));
    CacheSpec spec = CacheSpec.of(options.cache());
    Identity identity =
        new Identity(
            weightsHash.get(),
            fingerprint(),
            spec.resolve(context).text(),
            profileHashes.computeIfAbsent(spec.config().profileParts(), this::profileHash),
            spec.dependsOnContextLimit(config().cacheShape(), context) ? context.contextLimit() : 0,
            options.tenant());
    return engine.storesGpuPages() ? identity.onGpu() : identity;
  }

  private String profileHash(Set<String> parts) {
    return profile.map(known -> ProfileHash.of(known, parts)).orElse("");
  }

  /** If the cache reads blocks in place, the first step checks them and rejects damage. */
  @Override
  public ModelSession restore(Path file) {
    checkOpen();
    return SavedSession.restore(this, file);
  }

  @Override
  public ModelSession restore(Path file, KvCacheSpec other) {
    ModelSession saved = restore(file);
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
    int limit = ModelSession.contextLimit(this, options);
    return engine.restoreCache(CacheSpec.of(options.cache()), profile, limit, snapshot);
  }

  /**
   * Returns what proposes tokens for a session; null for no speculation.
   *
   * @param contextLimit maximum tokens of its text
   */
  Drafter newDrafter(int contextLimit) {
    return drafting.newDrafter(contextLimit);
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
    drafting.close();
    prefixes.close();
    engine.close();
    tokenizer.close();
    workers.close();
  }
}

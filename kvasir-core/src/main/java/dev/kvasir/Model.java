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
 * A language model that is loaded and ready. Sessions on it may run from several threads at once;
 * closing it frees all memory outside the heap, and using it after that is an error.
 */
public final class Model implements AutoCloseable {
  /** Where the module kvasir-mini keeps its file. */
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  /** Where it keeps what methods learned of that file. */
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

  /** Loads a GGUF file, any of several that a model is split into, or a folder of Hugging Face. */
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

  /** What methods learned of the bundled model, where it carries that. */
  public static Optional<Profile> bundledProfile() {
    return Optional.ofNullable(Model.class.getResource(BUNDLED_PROFILE))
        .map(resource -> ResourceBytes.of(resource, Arena.ofAuto()))
        .map(bytes -> Profile.of("the bundled profile", bytes));
  }

  /** The file of the bundled model, to look into. */
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

  /** Tokenizer and weights know nothing of each other, so they load side by side. */
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

  /** The file or folder that it came from. */
  public String name() {
    return name;
  }

  public ModelConfig config() {
    return engine.config();
  }

  /** What it computes on, for people. */
  public String device() {
    return engine.device();
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** For what computes with them itself, such as gradients; they live as long as this model. */
  public Weights weights() {
    return engine.weights();
  }

  /** Bytes of the weights as they are used. */
  public long weightBytes() {
    return engine.weightBytes();
  }

  /**
   * The chat template that its files carry.
   *
   * @throws InvalidInputException where there is none, or it uses what is not supported
   */
  public ChatTemplate chatTemplate() {
    String source =
        tokenizer
            .chatTemplate()
            .orElseThrow(() -> new InvalidInputException(name + ": carries no chat template"));
    return ChatTemplate.of(source, "chat template of " + name, tokenizer);
  }

  /** A short name for its weights and shape, which profiles are made out to. */
  public String fingerprint() {
    return engine.fingerprint();
  }

  /** Refuses to be kept in a store where its sequences cannot be. */
  public void requireStorable() {
    if (!engine.storesSequences()) {
      throw new InvalidInputException(
          "%s: its sequences lie on %s and cannot be stored; expected no store, or the device cpu"
              .formatted(name, engine.device()));
    }
  }

  /** What methods learned of it beforehand. */
  public Optional<Profile> profile() {
    return profile;
  }

  /** An empty cache of a sequence that may fill the model's context. */
  public KvCache newCache(CacheSpec spec) {
    return newCache(spec, config().contextLength());
  }

  /**
   * An empty cache of a sequence.
   *
   * @param contextLimit tokens that the sequence may grow to
   */
  public KvCache newCache(CacheSpec spec, int contextLimit) {
    checkOpen();
    return engine.newCache(spec, profile, contextLimit);
  }

  CacheContext cacheContext() {
    return engine.cacheContext().withProfile(profile);
  }

  /** A kind of cache by the name that says what this model's profile decides for it. */
  public CacheSpec resolve(CacheSpec spec) {
    return spec.resolve(cacheContext());
  }

  /**
   * Bytes that a session never exceeds on its way to so many tokens; where sizes depend on the
   * vectors, what is usual.
   */
  public long maxCacheBytes(SessionOptions options, int tokens) {
    CacheContext context = cacheContext().withContextLimit(Session.contextLimit(this, options));
    return engine.maxBytes(options.cache(), context, tokens, Request.PREFILL_STEP);
  }

  /** Bytes of tables that all sessions with a kind of cache share, beside their own. */
  public long sharedCacheBytes(CacheSpec spec) {
    return engine.sharedBytes(spec, cacheContext());
  }

  /** What the keys and values of all its sequences are taken from, those of sessions included. */
  public MemoryPool cacheMemory() {
    return engine.memory();
  }

  /** Lets somebody see when its sessions' steps run and what is packed beside them. */
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
   * A session that begins with a text. What others have read of its beginning is not read again,
   * and what it reads is kept for others as long as there is memory for it ({@link #prefixes}). Its
   * first {@link Session#generate(int[], GenerateOptions, GenerationListener)} takes no further
   * tokens, and gives what a session gives that reads the whole text.
   *
   * @param owner by whom what it leaves for others can be forgotten; may be null
   */
  public Session newSession(SessionOptions options, int[] text, String owner) {
    checkOpen();
    return Session.open(this, options, text, owner);
  }

  /** Beginnings of texts that sessions have read for each other. */
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
   * What keys and values depend on beside their tokens, as it is stored with them. The first call
   * reads all weights, unless their hash lies beside them.
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
   * A session that was saved, with what it was opened with. It goes on with the bits that it would
   * have had. Where its kind of cache reads blocks where they lie in the file, they are checked by
   * the first step, which refuses what is damaged; the file may be replaced or deleted meanwhile,
   * and must not be written to.
   *
   * @throws InvalidInputException in one sentence, where the file is damaged or belongs to another
   *     model or profile
   */
  public Session restore(Path file) {
    checkOpen();
    return SavedSession.restore(this, file);
  }

  /**
   * A session that was saved, which goes on with another kind of cache: its keys and values are
   * packed anew, as {@link Session#convertedTo} does it.
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
   * The cache of a sequence that was stored with the {@link #identity} of these options.
   *
   * @throws InvalidInputException in one sentence, where a bit has changed
   * @throws dev.kvasir.cache.CacheFullException where there is no memory for it
   */
  public KvCache restoreCache(SessionOptions options, CacheSnapshot snapshot) {
    checkOpen();
    int limit = Session.contextLimit(this, options);
    return engine.restoreCache(options.cache(), profile, limit, snapshot);
  }

  /** Generates for all sessions at once. */
  Scheduler scheduler() {
    return scheduler;
  }

  /**
   * Runs one step over rows of any number of sequences at once, so that the weights are read once
   * for all of them.
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

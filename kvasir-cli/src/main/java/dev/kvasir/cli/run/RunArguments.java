package dev.kvasir.cli.run;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.SpeculationArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.stored.StoredSequence;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options for running a model: threads, context and KV cache. */
final class RunArguments {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = MethodHelp.SPEC_OR_AUTO + " Default: ${DEFAULT-VALUE}.")
  private String cache;

  @Option(
      names = "--kv-memory",
      paramLabel = "SIZE",
      description =
          "Maximum memory of the KV cache, as in 512MiB. Default: no limit; --kv auto"
              + " then uses half of the memory that the weights leave.")
  private String memory;

  @Option(
      names = "--repack",
      description =
          "Convert a saved session to another --kv by requantizing it. Caches that depend"
              + " on attention statistics do not support this.")
  private boolean repack;

  @Option(
      names = "--prefill",
      paramLabel = "MODE",
      description =
          "When a prompt is quantized: chunked, while it is read, which saves memory; or"
              + " exact, after all of it has been read in full precision. Default: what --kv"
              + " asks for with prefill= or as=paper, else chunked.")
  private String prefill;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Maximum tokens of the context. Default: the model's context.")
  private Integer context;

  @Mixin private LoadArguments load;
  @Mixin private DeviceArguments device;
  @Mixin private SpeculationArguments speculation;

  private CacheSpec chosen; // by --kv auto

  /**
   * Chooses the cache of {@code --kv auto} and prints it; does nothing with another cache.
   *
   * @param saves whether the session is saved
   * @param hasSession whether a saved session decides, unless it is requantized
   */
  void chooseCache(ModelArguments model, boolean saves, boolean hasSession, Streams streams) {
    if (!AutoCache.isAuto(cache) || hasSession && !repack) {
      return;
    }
    ModelOutline outline = model.outline(load);
    Optional<Profile> given = load.profile().map(Profile::open);
    outline.requireProfile(given);
    int tokens =
        context == null
            ? outline.config().contextLength()
            : outline.requireContext("--context", OptionValue.atLeastOne("--context", context));
    CacheChoice choice =
        new AutoCache(
                outline,
                given.or(() -> model.profile(null)),
                device.supportedCaches(model, outline, saves),
                device::memoryBytes)
            .choose(
                tokens,
                memory == null ? OptionalLong.empty() : OptionalLong.of(memoryBytes()),
                speculation.draftBytes(tokens));
    chosen = choice.spec();
    AutoCache.report(choice, streams);
  }

  private long memoryBytes() {
    return ByteCount.parse("--kv-memory", memory);
  }

  private CacheSpec spec() {
    return chosen == null ? CacheSpec.parse(cache) : chosen;
  }

  /**
   * @param session options that the session will have
   * @param saves whether the session is saved
   */
  EngineOptions loadOptions(SessionOptions session, boolean saves) {
    if (repack) {
      device.requireProcessor("--repack");
    }
    List<CacheSpec> specs = List.of(CacheSpec.of(session.cache()));
    DeviceChoice choice = saves ? device.choiceWithStorage(specs) : device.choice(specs);
    EngineOptions options = speculation.addTo(load.options().withDevice(choice));
    return memory == null ? options : options.withCacheBytes(memoryBytes());
  }

  /**
   * Rejects options that do not fit the model, before its weights are loaded. It reads the model's
   * files only if there is something to check.
   *
   * @param session options that the session will have
   * @param profile the given profile
   */
  void check(ModelArguments model, SessionOptions session, Optional<Profile> profile) {
    boolean isCalibrated = CacheSpec.of(session.cache()).method().calibration().isPresent();
    boolean isLimited = session.contextLimit() != Integer.MAX_VALUE;
    if (profile.isEmpty() && !isCalibrated && !isLimited && memory == null) {
      return;
    }
    ModelOutline outline = model.outline(load);
    outline.requireProfile(profile);
    int tokens =
        isLimited
            ? outline.requireContext("--context", session.contextLimit())
            : outline.config().contextLength();
    CacheSpec spec = CacheSpec.of(session.cache());
    Optional<Profile> used = profile.or(() -> model.profile(null));
    outline.requireCache(spec, used, tokens);
    if (memory != null) {
      requireMemory(outline, spec, used, tokens);
    }
  }

  /** A cache with a budget of its own is as large from its first token on as the budget says. */
  private void requireMemory(
      ModelOutline outline, CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    if (outline.hasBudget(spec, profile, contextLimit)) {
      return;
    }
    long least = outline.sequenceBytes(spec, profile, 1, contextLimit);
    if (least > memoryBytes()) {
      throw new InvalidInputException(
          "--kv-memory is %s; expected at least %s, which the first token takes with '%s'"
              .formatted(memory, Units.typedBytes(least), spec));
    }
  }

  /**
   * Loads the model; prints its device, and a warning if its profile may not suit the cache.
   *
   * @param session options of the session that will run, which may have another cache than was
   *     given
   */
  LoadedModel load(
      ModelArguments model, SessionOptions session, EngineOptions options, Streams streams) {
    LoadedModel loaded = model.load(options, streams);
    device.report(loaded, streams);
    loaded.warning(CacheSpec.of(session.cache())).ifPresent(streams::note);
    return loaded;
  }

  SessionOptions sessionOptions() {
    SessionOptions.Builder options = SessionOptions.builder().cache(spec());
    if (prefill != null) {
      options.prefill(OptionValue.oneOf("--prefill", prefill, Prefill.class));
    }
    if (context != null) {
      options.contextLimit(OptionValue.atLeastOne("--context", context));
    }
    return options.build();
  }

  /** Rejects {@code --repack} where it has no effect. */
  void requireNoRepack(String what) {
    if (repack) {
      throw new InvalidInputException(
          "--repack was given without a saved session; expected %s with it".formatted(what));
    }
  }

  /**
   * Returns the options of a saved session, with another kind of cache if it is to be requantized.
   *
   * @throws InvalidInputException if other options were typed
   */
  SessionOptions sessionOptions(Path file, StoredSequence saved) {
    if (repack && !isTyped("--kv")) {
      throw new InvalidInputException(
          "--repack was given without a kind of cache; expected --kv SPEC with it");
    }
    if (!repack && !AutoCache.isAuto(cache)) {
      requireSame(
          file, "--kv", CacheSpec.expanded(cache), saved.cacheSpec(), "; --repack requantizes it");
    }
    requireSame(file, "--prefill", prefill, word(prefill(saved)), "");
    requireSame(file, "--context", "" + context, word(saved.contextLimit()), "");
    return SessionOptions.builder()
        .cache(repack ? spec() : CacheSpec.parse(saved.cacheSpec()))
        .contextLimit(saved.contextLimit())
        .prefill(prefill(saved))
        .build();
  }

  private static Prefill prefill(StoredSequence saved) {
    return saved.defersQuantization() ? Prefill.EXACT : Prefill.CHUNKED;
  }

  private static String word(Prefill prefill) {
    return prefill.name().toLowerCase(Locale.ROOT);
  }

  private static String word(int contextLimit) {
    return contextLimit == Integer.MAX_VALUE ? "all that the model can hold" : "" + contextLimit;
  }

  private void requireSame(Path file, String option, String typed, String saved, String advice) {
    if (isTyped(option) && !typed.equals(saved)) {
      throw new InvalidInputException(
          "%s is '%s'; %s was saved with '%s' and goes on with it%s"
              .formatted(option, typed, file, saved, advice));
    }
  }

  private boolean isTyped(String option) {
    return command.commandLine().getParseResult().hasMatchedOption(option);
  }
}

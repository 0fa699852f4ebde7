package dev.kvasir.cli.run;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.stored.StoredSequence;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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
      description = {MethodHelp.ALL, "  Default: ${DEFAULT-VALUE}."})
  private String cache;

  @Option(
      names = "--repack",
      description = {
        "Let a saved session go on with another --kv: all that it holds is requantized.",
        "  Not for kinds of cache that quantize by attention statistics."
      })
  private boolean repack;

  @Option(
      names = "--prefill",
      paramLabel = "MODE",
      defaultValue = "chunked",
      description = {
        "When a prompt is quantized: chunked, while it is read, so that memory stays small; or exact,",
        "  when all of it has been read in full precision. Default: ${DEFAULT-VALUE}."
      })
  private String prefill;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Tokens that the context may hold. Default: as many as the model can.")
  private Integer context;

  @Mixin private LoadArguments load;
  @Mixin private DeviceArguments device;

  /**
   * @param savingOption the option that saves the session; null if it is not saved
   */
  EngineOptions loadOptions(String savingOption) {
    DeviceChoice choice =
        savingOption == null
            ? device.choice(List.of(CacheSpec.parse(cache)))
            : device.choiceWithStorage(savingOption);
    return load.options().withDevice(choice);
  }

  /** Loads the model and prints its device. */
  LoadedModel load(ModelArguments model, EngineOptions options, Streams streams) {
    LoadedModel loaded = model.load(options, streams);
    device.report(loaded, streams);
    return loaded;
  }

  SessionOptions sessionOptions() {
    SessionOptions options =
        SessionOptions.builder()
            .cache(CacheSpec.parse(cache))
            .prefill(OptionValue.oneOf("--prefill", prefill, Prefill.class))
            .build();
    return context == null
        ? options
        : options.toBuilder().contextLimit(OptionValue.atLeastOne("--context", context)).build();
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
    if (!repack) {
      requireSame(file, "--kv", cache, saved.cacheSpec(), "; --repack requantizes it");
    }
    requireSame(file, "--prefill", prefill, word(prefill(saved)), "");
    requireSame(file, "--context", "" + context, word(saved.contextLimit()), "");
    return SessionOptions.builder()
        .cache(CacheSpec.parse(repack ? cache : saved.cacheSpec()))
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

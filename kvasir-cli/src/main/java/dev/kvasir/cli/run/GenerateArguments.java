package dev.kvasir.cli.run;

import dev.kvasir.SamplingOptions;
import dev.kvasir.error.OptionValue;
import dev.kvasir.runtime.GenerationSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** Options for the length of an answer and for sampling. */
final class GenerateArguments {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = {"-n", "--max-tokens"},
      paramLabel = "N",
      defaultValue = "" + GenerationSettings.MAX_TOKENS,
      description = "Maximum number of tokens to generate. Default: ${DEFAULT-VALUE}.")
  private int maxTokens;

  @Option(
      names = {"-t", "--temperature"},
      paramLabel = "T",
      defaultValue = "" + SamplingOptions.DEFAULT_TEMPERATURE,
      description =
          "Randomness of sampling. 0 always picks the most likely token, so the same"
              + " prompt gives the same text. Default: ${DEFAULT-VALUE}.")
  private double temperature;

  @Option(
      names = "--top-k",
      paramLabel = "K",
      defaultValue = "0",
      description = "Sample from the K most likely tokens; 0 for all. Default: ${DEFAULT-VALUE}.")
  private int topK;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      defaultValue = "1",
      description =
          "Sample from the most likely tokens whose probabilities add up to P; 1 for all."
              + " Default: ${DEFAULT-VALUE}.")
  private double topP;

  @Option(
      names = "--min-p",
      paramLabel = "P",
      defaultValue = "" + SamplingOptions.DEFAULT_MIN_P,
      description =
          "Drop tokens that are less likely than this fraction of the most likely one; 0"
              + " drops none. Default: ${DEFAULT-VALUE}.")
  private double minP;

  @Option(
      names = "--repeat-penalty",
      paramLabel = "R",
      defaultValue = "1",
      description =
          "Above 1, tokens that have occurred become less likely. Default:" + " ${DEFAULT-VALUE}.")
  private double repeatPenalty;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description =
          "Random seed. The same seed gives the same text. Default: a random one, which"
              + " is printed.")
  private Long seed;

  /**
   * Returns the options. Call it once for a command, so that all answers of a chat use the seed
   * that is shown.
   */
  GenerationSettings options() {
    return OptionValue.check(() -> new GenerationSettings(maxTokens, sampling()));
  }

  private SamplingOptions sampling() {
    SamplingOptions sampling =
        SamplingOptions.builder()
            .repetitionPenalty(repeatPenalty)
            .temperature(temperature)
            .topK(topK)
            .topP(topP)
            .minP(minP)
            .build();
    return seed == null ? sampling : sampling.toBuilder().seed(seed).build();
  }

  /** Returns the seed that reproduces the text; empty for greedy sampling. */
  static Optional<String> seedOf(GenerationSettings options) {
    SamplingOptions sampling = options.sampling();
    return sampling.temperature() == 0 ? Optional.empty() : Optional.of("seed " + sampling.seed());
  }

  /** Names the options that have no effect with greedy sampling. */
  Optional<String> ignoredOptions() {
    ParseResult typed = command.commandLine().getParseResult();
    List<String> ignored =
        Stream.of("--top-k", "--top-p", "--min-p", "--seed")
            .filter(typed::hasMatchedOption)
            .toList();
    return temperature > 0 || ignored.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "note: --temperature 0 leaves nothing to do for " + String.join(", ", ignored));
  }
}

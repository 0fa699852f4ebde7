package dev.kvasir.cli.run;

import dev.kvasir.GenerateOptions;
import dev.kvasir.cli.arguments.OptionValue;
import dev.kvasir.sampling.SamplingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Option;

/** How long an answer may be and how its tokens are picked. */
final class GenerateArguments {
  @Option(
      names = {"-n", "--max-tokens"},
      paramLabel = "N",
      defaultValue = "256",
      description = "Tokens to generate at the most. Default: ${DEFAULT-VALUE}.")
  private int maxTokens;

  @Option(
      names = {"-t", "--temperature"},
      paramLabel = "T",
      defaultValue = "0",
      description = {
        "How freely tokens are picked; 0.8 is lively.",
        "  Default: ${DEFAULT-VALUE}, always the likeliest, so the same prompt gives the same text."
      })
  private double temperature;

  @Option(
      names = "--top-k",
      paramLabel = "K",
      defaultValue = "0",
      description = "Pick from the K likeliest tokens. Default: ${DEFAULT-VALUE}, all.")
  private int topK;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      defaultValue = "1",
      description = {
        "Pick from the likeliest tokens that together have probability P.",
        "  Default: ${DEFAULT-VALUE}, all."
      })
  private double topP;

  @Option(
      names = "--min-p",
      paramLabel = "P",
      defaultValue = "0",
      description = {
        "Drop tokens less likely than this share of the likeliest.",
        "  Default: ${DEFAULT-VALUE}, none."
      })
  private double minP;

  @Option(
      names = "--repeat-penalty",
      paramLabel = "R",
      defaultValue = "1",
      description = "Above 1, tokens seen before become less likely. Default: ${DEFAULT-VALUE}.")
  private double repeatPenalty;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "With a temperature: the same seed picks the same tokens. Default: random.")
  private Long seed;

  GenerateOptions options() {
    return OptionValue.check(
        () ->
            new GenerateOptions(
                maxTokens,
                new SamplingOptions(
                    repeatPenalty, temperature, topK, topP, minP, effectiveSeed())));
  }

  private long effectiveSeed() {
    if (seed == null && temperature > 0) {
      // Drawn once, so that every answer of a chat belongs to the seed that is shown.
      seed = ThreadLocalRandom.current().nextLong(1L << 32);
    }
    return seed == null ? 0 : seed;
  }

  /** Says which options do nothing because the likeliest token is always taken. */
  Optional<String> idleOptions() {
    List<String> idle = new ArrayList<>();
    if (temperature == 0) {
      addIf(topK != 0, "--top-k", idle);
      addIf(topP != 1, "--top-p", idle);
      addIf(minP != 0, "--min-p", idle);
      addIf(seed != null, "--seed", idle);
    }
    return idle.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "note: %s changes nothing without --temperature".formatted(String.join(", ", idle)));
  }

  private static void addIf(boolean given, String name, List<String> names) {
    if (given) {
      names.add(name);
    }
  }
}

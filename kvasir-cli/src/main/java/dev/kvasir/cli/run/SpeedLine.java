package dev.kvasir.cli.run;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.ModelSession;

/** Summarizes a generation in one line. */
final class SpeedLine {
  private static final long MIN_SHOWN_NANOS = 10_000_000;

  private SpeedLine() {}

  static String of(
      Generation made, ModelSession session, CacheSpec kind, GenerationSettings options) {
    String seed = GenerateArguments.seedOf(options).map(words -> ", " + words).orElse("");
    return "prompt %s at %s, generated %s at %s%s, KV cache %s%s%s, %s"
        .formatted(
            Units.tokens(made.promptTokens()),
            Units.rate(made.promptTokensPerSecond()),
            Units.tokens(made.generatedTokens()),
            Units.rate(made.generatedTokensPerSecond()),
            drafts(made.drafts()),
            CacheSummary.of(session, kind),
            quantization(made.quantization()) + requantization(made),
            seed,
            reason(made.finish()));
  }

  private static String drafts(Generation.Drafts drafts) {
    return drafts.proposedTokens() == 0
        ? ""
        : " with %d of %d drafted tokens accepted"
            .formatted(drafts.acceptedTokens(), drafts.proposedTokens());
  }

  /** Describes the quantization time if it is significant. */
  private static String quantization(Generation.Quantization time) {
    long quantizeNanos = time.totalNanos() - time.requantizeNanos();
    if (quantizeNanos < MIN_SHOWN_NANOS) {
      return "";
    }
    String learning =
        time.learnNanos() < MIN_SHOWN_NANOS
            ? ""
            : ", %s of it learning".formatted(Units.seconds(time.learnNanos()));
    return " quantized in %s%s".formatted(Units.seconds(quantizeNanos), learning);
  }

  private static String requantization(Generation made) {
    long nanos = made.quantization().requantizeNanos();
    int tokens = made.promptTokens() + made.generatedTokens();
    return nanos == 0
        ? ""
        : " requantized in %s, %s ms per token"
            .formatted(Units.seconds(nanos), Units.milliseconds((double) nanos / tokens));
  }

  private static String reason(Finish finish) {
    return switch (finish) {
      case END_OF_TEXT -> "stopped at end of text";
      case MAX_TOKENS -> "stopped at --max-tokens";
      case CONTEXT_FULL -> "stopped at the end of the context";
      case CACHE_FULL -> "stopped because the KV cache's budget is full";
      case STOPPED -> "interrupted";
    };
  }
}

package dev.kvasir.cli;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.Session;

/** What a generation took, in one line. */
final class SpeedLine {
  private SpeedLine() {}

  static String of(Generation made, Session session, String cacheName, GenerateOptions options) {
    String seed =
        options.sampling().temperature() == 0 ? "" : ", seed " + options.sampling().seed();
    return "prompt %s at %s, generated %s at %s, KV cache %s (%s, %s)%s, %s"
        .formatted(
            Units.tokens(made.promptTokens()),
            Units.rate(made.promptTokensPerSecond()),
            Units.tokens(made.generatedTokens()),
            Units.rate(made.generatedTokensPerSecond()),
            Units.bytes(session.cache().bytes().total()),
            cacheName,
            Units.bitsPerValue(session.bitsPerValue()),
            seed,
            reason(made.finish()));
  }

  private static String reason(Finish finish) {
    return switch (finish) {
      case END_OF_TEXT -> "stopped at end of text";
      case MAX_TOKENS -> "stopped at --max-tokens";
      case CONTEXT_FULL -> "stopped at the end of the context";
      case STOPPED -> "interrupted";
    };
  }
}

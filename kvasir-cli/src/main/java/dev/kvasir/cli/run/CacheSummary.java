package dev.kvasir.cli.run;

import dev.kvasir.cache.CacheContents;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.runtime.ModelSession;

/** Summarizes the size of a session's cache. */
final class CacheSummary {
  private CacheSummary() {}

  static String of(ModelSession session, CacheSpec kind) {
    return "%s (%s%s)"
        .formatted(Units.bytes(session.cache().bytes().total()), kind, quantization(session, kind));
  }

  /**
   * Describes the quantization. Memory is allocated in blocks, so for a short text the bits per
   * value only measure how full the blocks are. They are shown once most tokens are quantized, and
   * never for floating-point caches, whose name states them.
   */
  private static String quantization(ModelSession session, CacheSpec kind) {
    if (!MethodHelp.quantizes(kind.method())) {
      return "";
    }
    int held = session.cache().length();
    int quantized = quantizedTokens(session.cache());
    if (quantized == 0) {
      return ", nothing quantized yet";
    }
    return 2 * quantized < held
        ? ", %s of %s quantized".formatted(Units.count(quantized), Units.tokens(held))
        : ", " + Units.bitsPerValue(session.bitsPerValue());
  }

  private static int quantizedTokens(CacheContents cache) {
    return cache.runs().stream()
        .filter(run -> run.kind() == CacheRun.Kind.PAGES)
        .mapToInt(CacheRun::tokens)
        .sum();
  }
}

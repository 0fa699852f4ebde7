package dev.kvasir.cli.run;

import dev.kvasir.Session;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.terminal.Units;

/** What a session's cache takes, as lines of figures say it. */
final class CacheSummary {
  private CacheSummary() {}

  static String of(Session session, CacheSpec kind) {
    return "%s (%s%s)"
        .formatted(Units.bytes(session.cache().bytes().total()), kind, quantization(session, kind));
  }

  /**
   * Memory is taken in blocks, so the bits per value of a short text tell how full its blocks are.
   * They are said once most tokens are packed; of floating-point numbers, the name says them.
   */
  private static String quantization(Session session, CacheSpec kind) {
    if (!MethodHelp.quantizes(kind.method())) {
      return "";
    }
    int held = session.cache().length();
    int quantized = quantizedTokens(session.cache());
    if (quantized == 0) {
      return ", nothing packed yet";
    }
    return 2 * quantized < held
        ? ", %s of %s packed".formatted(Units.count(quantized), Units.tokens(held))
        : ", " + Units.bitsPerValue(session.bitsPerValue());
  }

  private static int quantizedTokens(KvCache cache) {
    return cache.runs().stream()
        .filter(run -> run.kind() == CacheRun.Kind.PAGES)
        .mapToInt(CacheRun::tokens)
        .sum();
  }
}

package dev.kvasir.codec.ranked;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Tokens of two widths, as the methods that have them let a user choose. */
public record RankedPlan(String spec, RankedSettings settings, int window, int sinks)
    implements CachePlan {
  public static final SortedSet<Integer> LOW_BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  public static final SortedSet<Integer> HIGH_BITS = new TreeSet<>(Set.of(2, 3, 4, 8));

  /** Tokens of a tier: words of codes hold as many side by side. */
  private static final int STEP = 16;

  private static final int MOST_QUERIES = 1024;
  private static final int DEFAULT_QUERIES = 32;
  private static final int DEFAULT_WINDOW = 128;

  /** Tokens of a page for a share of them: the nearest number that fills words. */
  public static int salient(SpecText spec, double otherwise) {
    long steps = Math.round(spec.fraction("share", otherwise, 1) * Page.TOKENS / STEP);
    return STEP * Math.clamp(steps, 1, Page.TOKENS / STEP - 1);
  }

  /** Recent queries that rank tokens. */
  public static int queries(SpecText spec) {
    return spec.between("queries", DEFAULT_QUERIES, 1, MOST_QUERIES);
  }

  public static RankedPlan of(SpecText spec, RankedSettings settings) {
    if (settings.highBits() <= settings.lowBits()) {
      throw spec.wrong(
          "high is %d; expected more than the %d bits of other tokens"
              .formatted(settings.highBits(), settings.lowBits()));
    }
    return new RankedPlan(
        spec.text(), settings, spec.tokens("window", DEFAULT_WINDOW), spec.tokens("sinks", 0));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return foretelling(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    UniformKeys.requirePackable(spec, shape);
    RankedCodec codec = new RankedCodec(shape, host, settings);
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    if (host.queryHeads() == 0) {
      throw new InvalidInputException(
          "the cache '%s' ranks tokens by queries and must know how many query heads there are"
              .formatted(spec));
    }
    return foretelling(shape, host);
  }
}

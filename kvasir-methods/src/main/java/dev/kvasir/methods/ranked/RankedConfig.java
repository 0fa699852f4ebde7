package dev.kvasir.methods.ranked;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Configuration of the methods that use two bit widths. */
public record RankedConfig(String spec, RankedSettings settings, int window, int sinks)
    implements QuantizationConfig {
  public static final SortedSet<Integer> LOW_BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  public static final SortedSet<Integer> HIGH_BITS = new TreeSet<>(Set.of(2, 3, 4, 8));

  /** Granularity of a tier's size: as many tokens as share a word of codes. */
  private static final int STEP = 16;

  private static final int MAX_QUERIES = 1024;
  private static final int DEFAULT_QUERIES = 32;
  private static final int DEFAULT_WINDOW = 128;

  /**
   * Returns the number of salient tokens of a page for the typed share, rounded to whole words: at
   * least one word of each tier, or no token for a share of zero.
   */
  public static int salient(SpecText spec, double otherwise) {
    double share = spec.decimal("share", otherwise, 0, 1);
    long steps = Math.round(share * Page.TOKENS / STEP);
    return share == 0 ? 0 : STEP * Math.clamp(steps, 1, Page.TOKENS / STEP - 1);
  }

  /** Returns the number of recent queries that rank tokens. */
  public static int queries(SpecText spec) {
    return spec.between("queries", DEFAULT_QUERIES, 1, MAX_QUERIES);
  }

  public static RankedConfig of(SpecText spec, RankedSettings settings) {
    if (settings.highBits() <= settings.lowBits()) {
      throw spec.invalid(
          "high is %d; expected more than the %d bits of other tokens"
              .formatted(settings.highBits(), settings.lowBits()));
    }
    return new RankedConfig(
        spec.text(), settings, spec.tokens("window", DEFAULT_WINDOW), spec.tokens("sinks", 0));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return estimationConfig(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    UniformOptions.requireSupported(spec, shape);
    RankedCodec codec = new RankedCodec(shape, context, settings);
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    if (context.queryHeads() == 0) {
      throw new InvalidInputException(
          "the cache '%s' ranks tokens by queries and must know how many query heads there are"
              .formatted(spec));
    }
    return estimationConfig(shape, context);
  }
}

package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.EvaluationJournal;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.Function;

/**
 * How much a comparison of caches reads.
 *
 * @param context tokens of the text and of documents with secret numbers
 * @param samples secret numbers to find; 0 for none
 */
record ComparisonSize(int context, int samples) {
  /** In shorter texts, too few tokens attend to quantized ones. */
  private static final int SHORTEST = 1024;

  private static final List<ComparisonSize> ALL =
      List.of(
          new ComparisonSize(2048, 8),
          new ComparisonSize(1536, 8),
          new ComparisonSize(SHORTEST, 4),
          new ComparisonSize(SHORTEST, 0));

  /** A document with several secret numbers needs as many tokens. */
  private static final int LEAST_NEEDLE_CONTEXT = 700;

  static ComparisonSize of(int context) {
    return new ComparisonSize(context, context < LEAST_NEEDLE_CONTEXT ? 0 : 8);
  }

  /** Returns the sizes that fit a model, the largest first. */
  static List<ComparisonSize> all(int contextLength, boolean quick) {
    List<ComparisonSize> sizes =
        ALL.stream().filter(size -> size.context <= contextLength).toList();
    if (sizes.isEmpty()) {
      return List.of(of(contextLength));
    }
    return quick ? List.of(sizes.getLast()) : sizes;
  }

  /** Returns this size with as many secret numbers, if its text can hold them. */
  ComparisonSize withSamples(int value) {
    return new ComparisonSize(context, context < LEAST_NEEDLE_CONTEXT ? 0 : value);
  }

  /**
   * Returns the first tokens of the text that are not scored. Few of them attend to quantized
   * tokens.
   */
  int promptTokens() {
    return context / 4;
  }

  /**
   * Returns an evaluator of the size that an earlier run began with, or of the largest size whose
   * work fits a time, and states the forecast.
   *
   * @param sizes the largest first; the last one is taken if none fits
   * @param tokensPerSecond measures the speed of the model
   */
  static CacheEvaluator choose(
      List<ComparisonSize> sizes,
      Function<ComparisonSize, CacheEvaluator> newEvaluator,
      EvaluationJournal journal,
      DoubleSupplier tokensPerSecond,
      double seconds,
      Streams streams) {
    for (ComparisonSize size : sizes) {
      CacheEvaluator evaluator = newEvaluator.apply(size);
      if (evaluator.continues(journal)) {
        streams.note("going on with the %s of an earlier run".formatted(size.describe()));
        return evaluator;
      }
    }
    double speed = tokensPerSecond.getAsDouble();
    for (ComparisonSize size : sizes) {
      CacheEvaluator evaluator = newEvaluator.apply(size);
      double needed = evaluator.seconds(speed);
      if (needed <= seconds || size.equals(sizes.getLast())) {
        streams.note(
            "%s take about %s at the measured %s tokens/s"
                .formatted(
                    size.describe(), Units.duration(needed), Units.count(Math.round(speed))));
        return evaluator;
      }
    }
    throw new IllegalArgumentException("sizes are none; expected at least 1");
  }

  private String describe() {
    return samples > 0
        ? "%s and %d secret numbers".formatted(Units.tokens(context), samples)
        : Units.tokens(context);
  }
}

package dev.kvasir.lab.mead;

import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.GeneratedText;
import dev.kvasir.lab.text.StoryOpenings;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Generates calibration texts with the model itself, for models whose training text is not
 * available. They resemble what the model meets when it generates.
 */
final class SelfGeneratedText {
  private static final SamplingOptions SAMPLING =
      SamplingOptions.builder().temperature(0.95f).topP(0.98f).build();

  private final LoadedModel model;
  private final int length;
  private final long seed;

  /**
   * @param length tokens of a text
   */
  SelfGeneratedText(LoadedModel model, int length, long seed) {
    this.model = model;
    this.length = length;
    this.seed = seed;
  }

  /** Returns the bytes of fp16 caches for texts that are generated in one batch. */
  static long bytes(CacheShape shape, int count, int length) {
    CacheContext context = CacheContext.unknown().withContextLimit(length);
    return count * GeneratedText.CACHE.maxBytes(shape, context, length, KvCache.TOKENS_PER_PAGE);
  }

  /**
   * @param first number of the first text, which determines its seed
   * @throws WorkCancelledException if the listener cancels the generation
   */
  int[][] texts(int first, int count, ProgressListener listener) {
    List<GeneratedText> texts = IntStream.range(first, first + count).mapToObj(this::text).toList();
    try {
      GeneratedText.generate(
          model, texts, step -> WorkCancelledException.reportOrThrow(listener, step, length));
    } finally {
      texts.forEach(GeneratedText::close);
    }
    return texts.stream().map(GeneratedText::tokens).toArray(int[][]::new);
  }

  /** Starts another story when one ends. */
  private GeneratedText text(int index) {
    PrimitiveIterator.OfInt openings = IntStream.iterate(index, number -> number + 1).iterator();
    Supplier<String> next = () -> StoryOpenings.at(openings.nextInt());
    return new GeneratedText(
        model,
        length,
        SAMPLING.toBuilder().seed(seed + index).build(),
        next.get(),
        () -> Optional.of(next.get()));
  }
}

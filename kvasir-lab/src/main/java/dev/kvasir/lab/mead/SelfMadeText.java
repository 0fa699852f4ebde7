package dev.kvasir.lab.mead;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.text.GrowingText;
import dev.kvasir.lab.text.StoryOpenings;
import dev.kvasir.lab.work.Stopped;
import dev.kvasir.sampling.SamplingOptions;
import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Texts that a model makes up itself, for models that nobody has the training text of: they are
 * what it is likely to meet when it generates.
 */
final class SelfMadeText {
  private static final SamplingOptions SAMPLING =
      SamplingOptions.defaults().withTemperature(0.95f).withTopP(0.98f);

  private final Model model;
  private final int length;
  private final long seed;

  /**
   * @param length tokens of a text
   */
  SelfMadeText(Model model, int length, long seed) {
    this.model = model;
    this.length = length;
    this.seed = seed;
  }

  /** Caches of some texts that grow side by side, in half precision. */
  static long bytes(CacheShape shape, int count, int length) {
    CacheHost host = CacheHost.unknown().withContextLimit(length);
    return count * GrowingText.KIND.mostBytes(shape, host, length, KvCache.TOKENS_PER_PAGE);
  }

  /**
   * @param first number of the first text, by which it is told from others
   * @throws Stopped where the listener asked for it
   */
  int[][] texts(int first, int count, WorkListener listener) {
    List<GrowingText> texts = IntStream.range(first, first + count).mapToObj(this::text).toList();
    try {
      GrowingText.grow(model, texts, step -> Stopped.unlessWanted(listener, step, length));
    } finally {
      texts.forEach(GrowingText::close);
    }
    return texts.stream().map(GrowingText::tokens).toArray(int[][]::new);
  }

  /** A story that ends is followed by another one. */
  private GrowingText text(int index) {
    PrimitiveIterator.OfInt openings = IntStream.iterate(index, number -> number + 1).iterator();
    Supplier<String> next = () -> StoryOpenings.at(openings.nextInt());
    return new GrowingText(
        model, length, SAMPLING.withSeed(seed + index), next.get(), () -> Optional.of(next.get()));
  }
}

package dev.kvasir.lab.mead;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.text.StoryOpenings;
import dev.kvasir.lab.work.Stopped;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Texts that a model makes up itself, for models that nobody has the training text of: they are
 * what it is likely to meet when it generates.
 */
final class SelfMadeText {
  private static final SamplingOptions SAMPLING =
      SamplingOptions.defaults().withTemperature(0.95f).withTopP(0.98f);

  private static final CacheSpec KIND = CacheSpec.DEFAULT;

  private static final List<String> OPENINGS = StoryOpenings.ALL;

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
    return count * KIND.mostBytes(shape, host, length, KvCache.TOKENS_PER_PAGE);
  }

  /**
   * @param first number of the first text, by which it is told from others
   * @throws Stopped where the listener asked for it
   */
  int[][] texts(int first, int count, WorkListener listener) {
    List<Text> texts = IntStream.range(first, first + count).mapToObj(Text::new).toList();
    try {
      Batch batch = new Batch();
      int step = 0;
      while (texts.stream().anyMatch(Text::isShort)) {
        batch.clear();
        List<Text> rows = texts.stream().filter(Text::isShort).toList();
        rows.forEach(text -> text.addTo(batch));
        model.forward(batch);
        for (int i = 0; i < rows.size(); i++) {
          rows.get(i).take(batch, i);
        }
        Stopped.unlessWanted(listener, ++step, length);
      }
    } finally {
      texts.forEach(text -> text.cache.close());
    }
    return texts.stream().map(text -> text.tokens).toArray(int[][]::new);
  }

  /** One text as it grows. A story that ends is followed by another one. */
  private final class Text {
    private final int[] tokens = new int[SelfMadeText.this.length];
    private final KvCache cache = KIND.newCache(model.config().cacheShape());
    private final Sampler sampler;
    private final int index;
    private int begun;
    private int end;

    Text(int index) {
      this.index = index;
      this.sampler = new Sampler(SAMPLING.withSeed(seed + index));
      open(index);
    }

    private void open(int which) {
      for (int id : model.tokenizer().encode(OPENINGS.get(which % OPENINGS.size()))) {
        if (end < tokens.length) {
          tokens[end++] = id;
        }
      }
    }

    boolean isShort() {
      return end < tokens.length;
    }

    void addTo(Batch batch) {
      for (int i = cache.length(); i < end; i++) {
        batch.add(cache, tokens[i], i == end - 1);
      }
    }

    void take(Batch batch, int row) {
      int token = sampler.pick(batch.logits(), batch.logitsAt(row), batch.vocabulary());
      if (model.tokenizer().endOfText().contains(token)) {
        open(index + ++begun);
      } else {
        tokens[end++] = token;
      }
    }
  }
}

package dev.kvasir.lab.mead;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Texts that a model makes up itself, for models that nobody has the training text of: they are
 * what it is likely to meet when it generates.
 */
final class SelfMadeText {
  /** Enough for all weights to be read once for many tokens. */
  private static final int SIDE_BY_SIDE = 32;

  private static final SamplingOptions SAMPLING =
      SamplingOptions.defaults().withTemperature(0.95f).withTopP(0.98f);

  private final Model model;
  private final List<String> openings;
  private final int length;
  private final long seed;

  /**
   * @param openings what texts begin with, in turn
   * @param length tokens of a text
   */
  SelfMadeText(Model model, List<String> openings, int length, long seed) {
    this.model = model;
    this.openings = List.copyOf(openings);
    this.length = length;
    this.seed = seed;
  }

  /**
   * @return fewer where the listener asked to stop
   */
  List<int[]> texts(int count, WorkListener listener) {
    List<int[]> texts = new ArrayList<>();
    while (texts.size() < count && !listener.stopped()) {
      int begun = texts.size();
      int some = Math.min(SIDE_BY_SIDE, count - begun);
      texts.addAll(
          together(
              begun,
              some,
              step -> listener.progress(begun + (double) some * step / length, count),
              listener));
    }
    return texts;
  }

  private interface StepListener {
    void step(int length);
  }

  private List<int[]> together(int first, int count, StepListener steps, WorkListener listener) {
    List<Text> texts = IntStream.range(first, first + count).mapToObj(Text::new).toList();
    try {
      Batch batch = new Batch();
      int step = 0;
      while (texts.stream().anyMatch(Text::isShort) && !listener.stopped()) {
        batch.clear();
        List<Text> rows = texts.stream().filter(Text::isShort).toList();
        rows.forEach(text -> text.addTo(batch));
        model.forward(batch);
        for (int i = 0; i < rows.size(); i++) {
          rows.get(i).take(batch, i);
        }
        steps.step(++step);
      }
    } finally {
      texts.forEach(text -> text.cache.close());
    }
    return listener.stopped() ? List.of() : texts.stream().map(text -> text.tokens).toList();
  }

  /** One text as it grows. A story that ends is followed by another one. */
  private final class Text {
    private final int[] tokens = new int[SelfMadeText.this.length];
    private final KvCache cache = CacheSpec.DEFAULT.newCache(model.config().cacheShape());
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
      for (int id : model.tokenizer().encode(openings.get(which % openings.size()))) {
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

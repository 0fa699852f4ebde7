package dev.kvasir.lab.text;

import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.sampling.Sampler;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * A text that a model generates from an opening. Texts of a batch are independent of each other.
 */
public final class GeneratedText implements AutoCloseable {
  /** Spec of its cache. */
  public static final CacheSpec CACHE = CacheSpec.DEFAULT;

  private final LoadedModel model;
  private final Sampler sampler;
  private final Supplier<Optional<String>> next;
  private final KvCache cache;
  private final int[] tokens;
  private int length;
  private boolean ended;

  /**
   * @param maxTokens length at which the text ends, even within a story
   * @param next opening to continue with when the model ends a story; empty to end the text
   */
  public GeneratedText(
      LoadedModel model,
      int maxTokens,
      SamplingOptions sampling,
      String opening,
      Supplier<Optional<String>> next) {
    this.model = model;
    this.sampler = new Sampler(sampling);
    this.next = next;
    this.tokens = new int[maxTokens];
    this.cache = CACHE.newCache(model.config().cacheShape());
    open(opening);
  }

  /**
   * Generates all texts in a batch, one token of each per step, until they end.
   *
   * @param onStep receives the number of each step, from 1 on
   */
  public static void generate(LoadedModel model, List<GeneratedText> texts, IntConsumer onStep) {
    Batch batch = new Batch();
    for (int step = 1; texts.stream().anyMatch(text -> !text.ended); step++) {
      batch.clear();
      List<GeneratedText> rows = texts.stream().filter(text -> !text.ended).toList();
      rows.forEach(text -> text.addTo(batch));
      model.forward(batch);
      for (int i = 0; i < rows.size(); i++) {
        rows.get(i).take(batch, i);
      }
      onStep.accept(step);
    }
  }

  public int[] tokens() {
    return Arrays.copyOf(tokens, length);
  }

  private void open(String opening) {
    for (int id : model.tokenizer().encode(opening)) {
      append(id);
    }
  }

  private void append(int token) {
    if (!ended) {
      tokens[length++] = token;
      ended = length == tokens.length;
    }
  }

  private void addTo(Batch batch) {
    for (int i = cache.length(); i < length; i++) {
      batch.add(cache, tokens[i], i == length - 1);
    }
  }

  private void take(Batch batch, int row) {
    int token = sampler.sample(batch.logits(), batch.logitsAt(row), batch.vocabulary());
    if (model.tokenizer().endOfText().contains(token)) {
      next.get().ifPresentOrElse(this::open, () -> ended = true);
    } else {
      append(token);
    }
    if (ended) {
      cache.close();
    }
  }

  @Override
  public void close() {
    cache.close();
  }
}

package dev.kvasir.bench;

import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.TextStream;

/** Kvasir: steps, sampling and text as in a session, but beyond any end of text. */
final class KvasirBenchEngine implements BenchEngine {
  private static final int PROMPT_STEP = 256;

  private final LoadedModel model;
  private final int[] prompt;
  private final Batch batch = new Batch();
  private final KvCache cache;
  private final Sampler sampler = new Sampler(SamplingOptions.greedy());

  /** Generated characters, which keep the text from being optimized away. */
  private long characters;

  KvasirBenchEngine(LoadedModel model, int[] prompt) {
    this.model = model;
    this.prompt = prompt;
    this.cache = model.newCache(CacheSpec.DEFAULT);
  }

  @Override
  public String name() {
    return "kvasir";
  }

  @Override
  public long prefill() {
    cache.truncate(0);
    long start = System.nanoTime();
    for (int from = 0; from < prompt.length; from += PROMPT_STEP) {
      batch.clear();
      for (int i = from; i < Math.min(from + PROMPT_STEP, prompt.length); i++) {
        batch.add(cache, prompt[i], i == prompt.length - 1);
      }
      model.forward(batch);
    }
    return System.nanoTime() - start;
  }

  @Override
  public long generate(int tokens) {
    prefill();
    TextStream stream = model.tokenizer().stream(true);
    long start = System.nanoTime();
    for (int i = 0; i < tokens; i++) {
      int token = sampler.sample(batch.logits(), batch.logitsAt(0), batch.vocabulary());
      characters += stream.push(token).length();
      batch.clear();
      batch.add(cache, token, true);
      model.forward(batch);
    }
    return System.nanoTime() - start;
  }

  long characters() {
    return characters;
  }

  @Override
  public void close() {
    cache.close();
  }
}

package dev.kvasir.lab.reproduce;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.engine.Batch;

/**
 * The time of reading a prompt and of generating after it, with the parts that the cache takes.
 *
 * @param prefill quantization during and at the end of the prompt
 * @param decode quantization while generating
 */
record DecodeTimes(
    QuantizationTime prefill, QuantizationTime decode, long prefillNanos, long decodeNanos) {
  private static final int CHUNK = 256;

  /** More than a page, so that a page is quantized while generating. */
  private static final int DECODED = 160;

  static DecodeTimes measure(Conditions conditions, CacheSpec spec, int promptTokens) {
    int prompt = Math.min(promptTokens, conditions.model().config().contextLength() - DECODED);
    int[] ids = conditions.model().tokenizer().encode(Novel.start(prompt + DECODED));
    Batch batch = new Batch();
    try (KvCache cache = conditions.model().newCache(spec, prompt + DECODED)) {
      long start = System.nanoTime();
      cache.deferQuantization(true);
      for (int from = 0; from < prompt; from += CHUNK) {
        batch.clear();
        for (int i = from; i < Math.min(prompt, from + CHUNK); i++) {
          batch.add(cache, ids[i], false);
        }
        conditions.model().forward(batch);
      }
      cache.deferQuantization(false);
      long middle = System.nanoTime();
      QuantizationTime prefill = cache.quantizationTime();
      for (int i = 0; i < DECODED; i++) {
        batch.clear();
        batch.add(cache, ids[prompt + i], true);
        conditions.model().forward(batch);
      }
      long end = System.nanoTime();
      return new DecodeTimes(
          prefill, cache.quantizationTime().minus(prefill), middle - start, end - middle);
    }
  }

  long totalNanos() {
    return prefillNanos + decodeNanos;
  }
}

package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;

/** A cache under evaluation: its name and a factory for empty instances. */
interface CandidateCache extends Serializable {
  String name();

  /**
   * @param tokens maximum length of the sequence, which scales a budget in bits; each task has its
   *     own budget
   */
  KvCache newCache(LoadedModel model, int tokens);

  /** Returns the tokens that a budget is for, given those of the sequence. */
  default int budgetTokens(int tokens) {
    return tokens;
  }

  /** Returns the spec used to estimate memory. */
  default CacheSpec cacheSpec() {
    return CacheSpec.DEFAULT;
  }

  /** Returns an upper bound of the bytes a sequence occupies while it grows to a length. */
  default long peakBytes(LoadedModel model, int tokens, Prefill prefill) {
    long quantized = maxBytes(model, cacheSpec(), tokens, budgetTokens(tokens));
    // A prompt that is quantized at its end is held in full precision until then.
    return prefill == Prefill.EXACT
        ? quantized + maxBytes(model, CacheSpec.DEFAULT, tokens, tokens)
        : quantized;
  }

  private static long maxBytes(LoadedModel model, CacheSpec spec, int tokens, int limit) {
    SessionOptions options = SessionOptions.builder().cache(spec).contextLimit(limit).build();
    return model.maxCacheBytes(options, tokens);
  }

  static CandidateCache of(CacheSpec spec, LoadedModel model) {
    return of(spec, model, 0);
  }

  /**
   * @param budgetContext tokens that scale a budget, where a sequence has fewer
   */
  static CandidateCache of(CacheSpec spec, LoadedModel model, int budgetContext) {
    return new OfSpec(model.resolve(spec).text(), spec.text(), budgetContext);
  }

  /**
   * A cache described by a spec.
   *
   * @param name the spec with the parameters that the model's profile adds
   * @param spec the spec as typed
   * @param budgetContext tokens that scale a budget, where a sequence has fewer
   */
  record OfSpec(String name, String spec, int budgetContext) implements CandidateCache {
    @Override
    public CacheSpec cacheSpec() {
      return CacheSpec.parse(spec);
    }

    @Override
    public KvCache newCache(LoadedModel model, int tokens) {
      return model.newCache(cacheSpec(), budgetTokens(tokens));
    }

    @Override
    public int budgetTokens(int tokens) {
      return Math.max(tokens, budgetContext);
    }
  }
}

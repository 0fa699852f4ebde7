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

  /** Returns the spec used to estimate memory. */
  default CacheSpec cacheSpec() {
    return CacheSpec.DEFAULT;
  }

  /** Returns an upper bound of the bytes a sequence occupies while it grows to a length. */
  default long peakBytes(LoadedModel model, int tokens, Prefill prefill) {
    long quantized = maxBytes(model, cacheSpec(), tokens);
    // A prompt that is quantized at its end is held in full precision until then.
    return prefill == Prefill.EXACT
        ? quantized + maxBytes(model, CacheSpec.DEFAULT, tokens)
        : quantized;
  }

  private static long maxBytes(LoadedModel model, CacheSpec spec, int tokens) {
    SessionOptions options = SessionOptions.builder().cache(spec).contextLimit(tokens).build();
    return model.maxCacheBytes(options, tokens);
  }

  static CandidateCache of(CacheSpec spec, LoadedModel model) {
    return new OfSpec(model.resolve(spec).text(), spec.text());
  }

  /**
   * A cache described by a spec.
   *
   * @param name the spec with the parameters that the model's profile adds
   * @param spec the spec as typed
   */
  record OfSpec(String name, String spec) implements CandidateCache {
    @Override
    public CacheSpec cacheSpec() {
      return CacheSpec.parse(spec);
    }

    @Override
    public KvCache newCache(LoadedModel model, int tokens) {
      return model.newCache(cacheSpec(), tokens);
    }
  }
}

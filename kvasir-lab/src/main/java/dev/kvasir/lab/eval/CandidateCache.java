package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import java.io.Serializable;

/** A row to be filled: a kind of cache by its name, and how an empty one is made. */
interface CandidateCache extends Serializable {
  String name();

  /**
   * @param tokens that a sequence may grow to, which is what a budget in bits counts: each task has
   *     a budget of its own size
   */
  KvCache newCache(Model model, int tokens);

  /** What foretells its bytes. */
  default CacheSpec cacheSpec() {
    return CacheSpec.DEFAULT;
  }

  /** Bytes that a sequence takes at the most on its way to so many tokens. */
  default long peakBytes(Model model, int tokens, Prefill prefill) {
    long quantized = maxBytes(model, cacheSpec(), tokens);
    // What is packed at a prompt's end lies there whole until then.
    return prefill == Prefill.EXACT
        ? quantized + maxBytes(model, CacheSpec.DEFAULT, tokens)
        : quantized;
  }

  private static long maxBytes(Model model, CacheSpec spec, int tokens) {
    SessionOptions options = SessionOptions.defaults().withCache(spec).withContextLimit(tokens);
    return model.maxCacheBytes(options, tokens);
  }

  static CandidateCache of(CacheSpec spec, Model model) {
    return new OfSpec(model.resolve(spec).text(), spec.text());
  }

  /**
   * What a spec describes.
   *
   * @param name the spec with what the model's profile decides for it
   * @param spec as typed
   */
  record OfSpec(String name, String spec) implements CandidateCache {
    @Override
    public CacheSpec cacheSpec() {
      return CacheSpec.parse(spec);
    }

    @Override
    public KvCache newCache(Model model, int tokens) {
      return model.newCache(cacheSpec(), tokens);
    }
  }
}

package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import java.util.function.Supplier;

/** A row to be filled: a kind of cache by its name, and how an empty one is made. */
public record Contender(String name, Supplier<KvCache> newCache) {
  /**
   * @param longest tokens that a sequence may grow to: what a budget in bits counts
   */
  public static Contender of(CacheSpec spec, Model model, int longest) {
    return new Contender(model.named(spec).text(), () -> model.newCache(spec, longest));
  }

  KvCache open() {
    return newCache.get();
  }
}

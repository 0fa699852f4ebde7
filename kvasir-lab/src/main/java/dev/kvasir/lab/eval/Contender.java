package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import java.util.function.Supplier;

/** A row to be filled: a kind of cache by its name, and how an empty one is made. */
public record Contender(String name, Supplier<KvCache> newCache) {
  public static Contender of(CacheSpec spec, Model model) {
    return new Contender(model.named(spec).text(), () -> model.newCache(spec));
  }

  KvCache open() {
    return newCache.get();
  }
}

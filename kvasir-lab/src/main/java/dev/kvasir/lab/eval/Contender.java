package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.model.ModelConfig;
import java.util.function.Supplier;

/** A row to be filled: a kind of cache by its name, and how an empty one is made. */
public record Contender(String name, Supplier<KvCache> newCache) {
  public static Contender of(CacheSpec spec, ModelConfig config) {
    return new Contender(spec.text(), () -> config.newCache(spec));
  }

  KvCache open() {
    return newCache.get();
  }
}

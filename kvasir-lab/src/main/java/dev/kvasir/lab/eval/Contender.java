package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import java.util.function.IntFunction;

/**
 * A row to be filled: a kind of cache by its name, and how an empty one is made.
 *
 * @param newCache by the tokens that a sequence may grow to, which is what a budget in bits counts:
 *     each task has a budget of its own size
 */
public record Contender(String name, IntFunction<KvCache> newCache) {
  public static Contender of(CacheSpec spec, Model model) {
    return new Contender(model.named(spec).text(), tokens -> model.newCache(spec, tokens));
  }

  /**
   * @param tokens of the longest sequence of a task
   */
  KvCache open(int tokens) {
    return newCache.apply(tokens);
  }
}

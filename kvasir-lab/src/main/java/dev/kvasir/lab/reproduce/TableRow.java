package dev.kvasir.lab.reproduce;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedModel;
import java.util.Optional;

/**
 * A row of a table.
 *
 * @param label the paper's name of the row
 * @param spec the cache; empty if no cache here corresponds to the row
 */
record TableRow(String label, String spec) {
  boolean hasCache() {
    return !spec.isEmpty();
  }

  CacheSpec cache() {
    return CacheSpec.parse(spec);
  }

  /** Returns why the model cannot run the row; empty if it can. */
  Optional<String> obstacle(LoadedModel model) {
    if (!hasCache()) {
      return Optional.of("%s: no cache here corresponds to it".formatted(label));
    }
    try (KvCache cache = model.newCache(cache())) {
      return cache.capacity() > 0
          ? Optional.empty()
          : Optional.of("%s: '%s' holds no token".formatted(label, spec));
    } catch (InvalidInputException e) {
      return Optional.of("%s: %s".formatted(label, e.getMessage()));
    }
  }
}

package dev.kvasir.server.models;

import dev.kvasir.error.InvalidInputException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The models of a pool by name, as they were last listed. The lock of the pool guards it.
 *
 * @param <T> a loaded model
 */
final class ModelCatalog<T extends LoadedService> {
  private final Map<String, PooledModel<T>> models = new LinkedHashMap<>();

  /**
   * Takes a new list. Models that are in use stay, and keep the source they were loaded from.
   * Requests also keep the source whose bytes they measured.
   */
  void merge(List<? extends ModelSource<T>> listed) {
    Set<String> names = new HashSet<>();
    for (ModelSource<T> source : listed) {
      names.add(source.name());
      PooledModel<T> model =
          models.computeIfAbsent(source.name(), any -> new PooledModel<>(source));
      if (!model.state.isInMemory() && model.requests == 0) {
        model.source = source;
      }
    }
    models
        .values()
        .removeIf(
            one -> !one.state.isInMemory() && one.requests == 0 && !names.contains(one.name()));
  }

  /**
   * Returns the name of the model that a request means.
   *
   * @param requested a name, which may select a cache after an {@code @}
   */
  Optional<String> find(String requested) {
    String withoutCache = requested.replaceFirst("@.*", "");
    return models.containsKey(requested)
        ? Optional.of(requested)
        : Optional.of(withoutCache).filter(models::containsKey);
  }

  Optional<PooledModel<T>> get(String name) {
    return Optional.ofNullable(models.get(name));
  }

  /**
   * Returns a model that was found before.
   *
   * @throws InvalidInputException if it has been removed since
   */
  PooledModel<T> require(String name) {
    return get(name)
        .orElseThrow(
            () -> new InvalidInputException("the model '%s' has been removed".formatted(name)));
  }

  Collection<PooledModel<T>> all() {
    return models.values();
  }
}

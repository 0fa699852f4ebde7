package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.AutoCache;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The caches of several models, as typed: {@code NAME=SPEC} for one model, {@code SPEC} for all
 * others.
 */
record CacheKinds(Map<String, List<String>> byModel, List<String> others) {
  /**
   * @param names of the models
   * @throws dev.kvasir.error.InvalidInputException if a spec is invalid
   */
  static CacheKinds of(List<String> typed, Set<String> names) {
    Map<String, List<String>> byModel = new LinkedHashMap<>();
    List<String> others = new ArrayList<>();
    for (String text : typed) {
      int end = text.indexOf('=');
      boolean isOfModel = end > 0 && names.contains(text.substring(0, end));
      String spec = isOfModel ? text.substring(end + 1) : text;
      ServiceArguments.parse(List.of(spec), () -> CacheSpec.DEFAULT);
      (isOfModel
              ? byModel.computeIfAbsent(text.substring(0, end), any -> new ArrayList<>())
              : others)
          .add(spec);
    }
    return new CacheKinds(byModel, others);
  }

  /** Returns the specs of all models; auto, which a model decides on, is not among them. */
  List<CacheSpec> specs() {
    return Stream.concat(byModel.values().stream().flatMap(List::stream), others.stream())
        .filter(spec -> !AutoCache.isAuto(spec))
        .map(CacheSpec::parse)
        .distinct()
        .toList();
  }

  /** Returns the specs of a model. */
  List<String> of(String model) {
    return byModel.getOrDefault(model, others);
  }
}

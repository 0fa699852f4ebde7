package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The caches that are compared with any model, from four bits down. */
public final class CacheLadder {
  private static final List<String> UNCALIBRATED =
      List.of(
          "kivi:4,sinks=16",
          "kivi:3,group=64,sinks=16",
          "kivi:2,group=32,sinks=16",
          "patternkv:2,sinks=16",
          "kivi:2,sinks=16");

  /** Caches that take part if the profile of the model has what they need. */
  private static final List<String> CALIBRATED =
      List.of("mixkvq,sinks=16", "mead:2.5", "mead:2", "mead:1.5", "commvq:2,sinks=16");

  private CacheLadder() {}

  /** Returns the caches that the model supports, without fp16. */
  public static List<CacheSpec> of(LoadedModel model) {
    return Stream.concat(
            UNCALIBRATED.stream().map(CacheSpec::parse),
            CALIBRATED.stream()
                .map(CacheSpec::parse)
                .filter(spec -> isCalibrated(spec.config().profileParts(), model)))
        .filter(spec -> isSupported(spec, model))
        .toList();
  }

  private static boolean isCalibrated(Set<String> parts, LoadedModel model) {
    return model.profile().filter(held -> held.parts().containsAll(parts)).isPresent();
  }

  private static boolean isSupported(CacheSpec spec, LoadedModel model) {
    try (KvCache cache = model.newCache(spec)) {
      return cache.capacity() > 0;
    } catch (InvalidInputException e) {
      return false;
    }
  }
}

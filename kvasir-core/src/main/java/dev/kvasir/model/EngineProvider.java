package dev.kvasir.model;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.format.GgufFile;
import java.util.List;
import java.util.Optional;

/** Engines that compute elsewhere than on this machine's processor, found on the class path. */
public interface EngineProvider {
  /** The kind of device, as users type it. */
  String device();

  /** Why this machine has none, as a sentence; empty if it has one. */
  Optional<String> unavailableReason();

  /**
   * What is to be loaded.
   *
   * @param file of the weights, which is closed once they are where they belong
   * @param kinds of caches that are known to be asked for
   * @param cacheBytes that the keys and values of all sequences may take together
   */
  record LoadRequest(
      GgufFile file,
      ModelConfig config,
      List<CacheSpec> cacheSpecs,
      long cacheBytes,
      LoadProgress progress) {}

  /**
   * Refuses what it cannot do, before anything is loaded.
   *
   * @throws dev.kvasir.error.InvalidInputException in one sentence
   */
  void check(LoadRequest request);

  /**
   * @throws dev.kvasir.error.InvalidInputException where something is refused, or there is not as
   *     much memory; none is taken then
   */
  DecoderEngine open(LoadRequest request);
}

package dev.kvasir.spi;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import java.util.List;
import java.util.Optional;

/** Provides engines on devices other than the CPU; found on the class path. */
public interface EngineProvider {
  /** Returns the kind of device, as users type it. */
  String device();

  /** Returns why this machine has no such device, as a sentence; empty if it has one. */
  Optional<String> unavailableReason();

  /**
   * A device of this machine.
   *
   * @param memoryBytes all of its memory
   */
  record DeviceDescription(String name, long memoryBytes) {}

  /** Returns the devices of this machine by their index; none if they are not known. */
  default List<DeviceDescription> devices() {
    return List.of();
  }

  /**
   * A model to load.
   *
   * @param file GGUF file or Hugging Face folder of the weights; closed once they are loaded
   * @param ordinals indices of the devices among those of their kind; several have consecutive
   *     layers each
   * @param cacheSpecs cache types that are known to be used
   * @param cacheBytes most bytes of the KV caches of all sequences together
   */
  record LoadRequest(
      TensorSource file,
      ModelConfig config,
      List<Integer> ordinals,
      List<CacheSpec> cacheSpecs,
      long cacheBytes,
      LoadProgress progress) {
    /** A request for the first device. */
    public LoadRequest(
        TensorSource file,
        ModelConfig config,
        List<CacheSpec> cacheSpecs,
        long cacheBytes,
        LoadProgress progress) {
      this(file, config, List.of(0), cacheSpecs, cacheBytes, progress);
    }
  }

  /**
   * Checks that the model is supported, before anything is loaded.
   *
   * @throws dev.kvasir.error.InvalidInputException with one sentence if it is not
   */
  void check(LoadRequest request);

  /**
   * Checks that sequences with a cache can be stored, before anything is loaded.
   *
   * @throws dev.kvasir.error.InvalidInputException with one sentence if they cannot
   */
  default void requireStorable(CacheSpec spec) {}

  /**
   * @throws dev.kvasir.error.InvalidInputException if the model is not supported or memory is
   *     short; nothing stays allocated
   */
  DecoderEngine open(LoadRequest request);
}

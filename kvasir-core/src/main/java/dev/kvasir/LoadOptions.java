package dev.kvasir;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * How a model is loaded and run.
 *
 * @param threads threads that work on a step together
 * @param kernels the arithmetic to run on
 * @param profile what methods learned of the model beforehand; without one, the bundled model uses
 *     its own
 * @param cacheBytes that the keys and values of all sequences may take together
 * @param progress told how far loading has come
 */
public record LoadOptions(
    int threads,
    Kernels kernels,
    Optional<Profile> profile,
    long cacheBytes,
    LoadProgress progress) {
  public LoadOptions {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is %d; expected at least 1".formatted(threads));
    }
    if (cacheBytes < 1) {
      throw new IllegalArgumentException(
          "cacheBytes is %d; expected at least 1".formatted(cacheBytes));
    }
  }

  /** All processors, the fastest kernels, as much memory as there is, silence. */
  public static LoadOptions defaults() {
    return new LoadOptions(
        Runtime.getRuntime().availableProcessors(),
        KernelChoice.ofThisProcess().kernels(),
        Optional.empty(),
        Long.MAX_VALUE,
        (done, inAll) -> {});
  }

  public LoadOptions withThreads(int value) {
    return new LoadOptions(value, kernels, profile, cacheBytes, progress);
  }

  public LoadOptions withKernels(Kernels value) {
    return new LoadOptions(threads, value, profile, cacheBytes, progress);
  }

  public LoadOptions withProgress(LoadProgress value) {
    return new LoadOptions(threads, kernels, profile, cacheBytes, value);
  }

  public LoadOptions withProfile(Profile value) {
    return new LoadOptions(threads, kernels, Optional.of(value), cacheBytes, progress);
  }

  /** What all sequences may take together; who asks for more is refused. */
  public LoadOptions withCacheBytes(long value) {
    return new LoadOptions(threads, kernels, profile, value, progress);
  }
}

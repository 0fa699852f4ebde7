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
 * @param progress told how far loading has come
 */
public record LoadOptions(
    int threads, Kernels kernels, Optional<Profile> profile, LoadProgress progress) {
  public LoadOptions {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is %d; expected at least 1".formatted(threads));
    }
  }

  /** All processors, the fastest kernels, silence. */
  public static LoadOptions defaults() {
    return new LoadOptions(
        Runtime.getRuntime().availableProcessors(),
        KernelChoice.ofThisProcess().kernels(),
        Optional.empty(),
        (done, inAll) -> {});
  }

  public LoadOptions withThreads(int value) {
    return new LoadOptions(value, kernels, profile, progress);
  }

  public LoadOptions withKernels(Kernels value) {
    return new LoadOptions(threads, value, profile, progress);
  }

  public LoadOptions withProgress(LoadProgress value) {
    return new LoadOptions(threads, kernels, profile, value);
  }

  public LoadOptions withProfile(Profile value) {
    return new LoadOptions(threads, kernels, Optional.of(value), progress);
  }
}

package dev.kvasir;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How a model is loaded and run.
 *
 * @param threads threads that work on a step together
 * @param kernels the arithmetic to run on
 * @param profile what methods learned of the model beforehand; without one, the bundled model uses
 *     its own
 * @param context tokens that the model is used for, where that is less than it can hold; models
 *     with LongRoPE go by it
 * @param cacheBytes that the keys and values of all sequences may take together
 * @param device where it is to compute
 * @param progress told how far loading has come
 */
public record LoadOptions(
    int threads,
    Kernels kernels,
    Optional<Profile> profile,
    OptionalInt context,
    long cacheBytes,
    DeviceChoice device,
    LoadProgress progress) {
  public LoadOptions {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is %d; expected at least 1".formatted(threads));
    }
    if (context.isPresent() && context.getAsInt() < 1) {
      throw new IllegalArgumentException(
          "context is %d; expected at least 1".formatted(context.getAsInt()));
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
        OptionalInt.empty(),
        Long.MAX_VALUE,
        DeviceChoice.CPU,
        (done, inAll) -> {});
  }

  public LoadOptions withThreads(int value) {
    return new LoadOptions(value, kernels, profile, context, cacheBytes, device, progress);
  }

  public LoadOptions withKernels(Kernels value) {
    return new LoadOptions(threads, value, profile, context, cacheBytes, device, progress);
  }

  public LoadOptions withProgress(LoadProgress value) {
    return new LoadOptions(threads, kernels, profile, context, cacheBytes, device, value);
  }

  public LoadOptions withProfile(Profile value) {
    return new LoadOptions(
        threads, kernels, Optional.of(value), context, cacheBytes, device, progress);
  }

  /** The model as one of so many tokens of context, at most its own. */
  public LoadOptions withContext(int value) {
    return new LoadOptions(
        threads, kernels, profile, OptionalInt.of(value), cacheBytes, device, progress);
  }

  /** What all sequences may take together; who asks for more is refused. */
  public LoadOptions withCacheBytes(long value) {
    return new LoadOptions(threads, kernels, profile, context, value, device, progress);
  }

  /** On this machine's processor, or elsewhere. */
  public LoadOptions withDevice(DeviceChoice value) {
    return new LoadOptions(threads, kernels, profile, context, cacheBytes, value, progress);
  }
}

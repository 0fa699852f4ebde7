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
 * @param threads threads that compute a step together
 * @param kernels the kernels to compute with
 * @param profile calibration data of the model; without it, the bundled model uses its own
 * @param context maximum context to use, if below the model's own; LongRoPE models depend on it
 * @param cacheBytes maximum bytes of all KV caches together
 * @param device the device to compute on
 * @param progress notified of loading progress
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

  /**
   * Returns options with all processors, the fastest kernels, unlimited memory and no progress
   * output.
   */
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

  /** Limits the context, at most to the model's own. */
  public LoadOptions withContext(int value) {
    return new LoadOptions(
        threads, kernels, profile, OptionalInt.of(value), cacheBytes, device, progress);
  }

  /** Limits the bytes of all KV caches together; requests beyond that are rejected. */
  public LoadOptions withCacheBytes(long value) {
    return new LoadOptions(threads, kernels, profile, context, value, device, progress);
  }

  public LoadOptions withDevice(DeviceChoice value) {
    return new LoadOptions(threads, kernels, profile, context, cacheBytes, value, progress);
  }
}

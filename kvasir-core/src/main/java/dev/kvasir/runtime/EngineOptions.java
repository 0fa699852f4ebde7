package dev.kvasir.runtime;

import dev.kvasir.LoadOptions;
import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.model.KeyOutliers;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How a model is loaded and run, with what {@link LoadOptions} does not offer.
 *
 * @param threads threads that compute a step together
 * @param kernels the kernels to compute with
 * @param profile calibration data of the model; without it, the bundled model uses its own
 * @param context maximum context to use, if below the model's own; LongRoPE models depend on it
 * @param cacheBytes maximum bytes of all KV caches together
 * @param device the device to compute on
 * @param speculation what proposes tokens, so that one step verifies several
 * @param adapters low-rank adapters of the weights
 * @param outliers outliers to put into the keys, for experiments on the processor
 * @param progress notified of loading progress
 */
public record EngineOptions(
    int threads,
    Kernels kernels,
    Optional<Profile> profile,
    OptionalInt context,
    long cacheBytes,
    DeviceChoice device,
    Speculation speculation,
    List<LoraAdapters.Source> adapters,
    Optional<KeyOutliers> outliers,
    LoadProgress progress) {
  public EngineOptions {
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
  public static EngineOptions defaults() {
    return new EngineOptions(
        Runtime.getRuntime().availableProcessors(),
        KernelChoice.ofThisProcess().kernels(),
        Optional.empty(),
        OptionalInt.empty(),
        Long.MAX_VALUE,
        DeviceChoice.CPU,
        Speculation.off(),
        List.of(),
        Optional.empty(),
        (done, inAll) -> {});
  }

  /**
   * Returns the options of a caller; reads the profile.
   *
   * @throws dev.kvasir.error.InvalidInputException if the profile cannot be read
   */
  public static EngineOptions of(LoadOptions options) {
    return new EngineOptions(
        options.threads(),
        KernelChoice.ofThisProcess().kernels(),
        options.profile().map(Profile::open),
        options.contextLimit(),
        options.cacheMemory(),
        new DeviceChoice(options.device(), List.of()),
        options.speculation(),
        options.adapters().stream()
            .map(adapter -> new LoraAdapters.Source(adapter.file(), adapter.scale()))
            .toList(),
        Optional.empty(),
        options.progress()::layers);
  }

  public EngineOptions withThreads(int value) {
    return new EngineOptions(
        value,
        kernels,
        profile,
        context,
        cacheBytes,
        device,
        speculation,
        adapters,
        outliers,
        progress);
  }

  public EngineOptions withKernels(Kernels value) {
    return new EngineOptions(
        threads,
        value,
        profile,
        context,
        cacheBytes,
        device,
        speculation,
        adapters,
        outliers,
        progress);
  }

  public EngineOptions withProgress(LoadProgress value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        cacheBytes,
        device,
        speculation,
        adapters,
        outliers,
        value);
  }

  public EngineOptions withProfile(Profile value) {
    return new EngineOptions(
        threads,
        kernels,
        Optional.of(value),
        context,
        cacheBytes,
        device,
        speculation,
        adapters,
        outliers,
        progress);
  }

  /** Limits the context, at most to the model's own. */
  public EngineOptions withContext(int value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        OptionalInt.of(value),
        cacheBytes,
        device,
        speculation,
        adapters,
        outliers,
        progress);
  }

  /** Limits the bytes of all KV caches together; requests beyond that are rejected. */
  public EngineOptions withCacheBytes(long value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        value,
        device,
        speculation,
        adapters,
        outliers,
        progress);
  }

  public EngineOptions withDevice(DeviceChoice value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        cacheBytes,
        value,
        speculation,
        adapters,
        outliers,
        progress);
  }

  public EngineOptions withSpeculation(Speculation value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        cacheBytes,
        device,
        value,
        adapters,
        outliers,
        progress);
  }

  public EngineOptions withOutliers(KeyOutliers value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        cacheBytes,
        device,
        speculation,
        adapters,
        Optional.of(value),
        progress);
  }

  public EngineOptions withAdapters(List<LoraAdapters.Source> value) {
    return new EngineOptions(
        threads,
        kernels,
        profile,
        context,
        cacheBytes,
        device,
        speculation,
        List.copyOf(value),
        outliers,
        progress);
  }
}

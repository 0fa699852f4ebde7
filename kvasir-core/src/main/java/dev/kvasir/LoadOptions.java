package dev.kvasir;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How a model is loaded and run.
 *
 * @param threads threads that compute a step together
 * @param profile file with calibration data of the model. Without it, the bundled model uses its
 *     own, and other models the file {@code MODEL.profile} beside {@code MODEL.gguf}, {@code
 *     kvasir.profile} in their folder, or what {@code kvasir calibrate} saved for them.
 * @param contextLimit maximum context to use, if below the model's own
 * @param cacheMemory maximum bytes of all KV caches together
 * @param device the device to compute on
 * @param progress notified while weights are loaded
 */
public record LoadOptions(
    int threads,
    Optional<Path> profile,
    OptionalInt contextLimit,
    long cacheMemory,
    Device device,
    Progress progress) {
  /** The device to compute on. */
  public enum Device {
    /** The host's processor. */
    CPU,
    /** An NVIDIA GPU. Needs the module kvasir-cuda. */
    CUDA,
    /** A GPU that supports the request if there is one, else the processor. */
    AUTO
  }

  /** Called while weights are loaded. */
  @FunctionalInterface
  public interface Progress {
    void layers(int done, int total);
  }

  public LoadOptions {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is %d; expected at least 1".formatted(threads));
    }
    if (contextLimit.isPresent() && contextLimit.getAsInt() < 1) {
      throw new IllegalArgumentException(
          "contextLimit is %d; expected at least 1".formatted(contextLimit.getAsInt()));
    }
    if (cacheMemory < 1) {
      throw new IllegalArgumentException(
          "cacheMemory is %d; expected at least 1".formatted(cacheMemory));
    }
  }

  /** Returns options with all processors and unlimited memory. */
  public static LoadOptions defaults() {
    return builder().build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link LoadOptions}. */
  public static final class Builder {
    private int threads = Runtime.getRuntime().availableProcessors();
    private Optional<Path> profile = Optional.empty();
    private OptionalInt contextLimit = OptionalInt.empty();
    private long cacheMemory = Long.MAX_VALUE;
    private Device device = Device.CPU;
    private Progress progress = (done, total) -> {};

    private Builder() {}

    public Builder threads(int value) {
      threads = value;
      return this;
    }

    /** Sets the file with the calibration data of the model. */
    public Builder profile(Path file) {
      profile = Optional.of(file);
      return this;
    }

    /** Limits the context, at most to the model's own. */
    public Builder contextLimit(int tokens) {
      contextLimit = OptionalInt.of(tokens);
      return this;
    }

    /** Limits the bytes of all KV caches together; requests beyond that are refused. */
    public Builder cacheMemory(long bytes) {
      cacheMemory = bytes;
      return this;
    }

    public Builder device(Device value) {
      device = value;
      return this;
    }

    public Builder progress(Progress value) {
      progress = value;
      return this;
    }

    public LoadOptions build() {
      return new LoadOptions(threads, profile, contextLimit, cacheMemory, device, progress);
    }
  }
}

package dev.kvasir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

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
 * @param speculation how tokens are proposed, so that one step verifies several
 * @param adapters low-rank adapters of the weights
 * @param progress notified while a model is downloaded and its weights are loaded
 */
public record LoadOptions(
    int threads,
    Optional<Path> profile,
    OptionalInt contextLimit,
    long cacheMemory,
    Device device,
    Speculation speculation,
    List<Adapter> adapters,
    Progress progress) {
  /**
   * A low-rank adapter (LoRA) of a model on the CPU.
   *
   * @param file a GGUF file in llama.cpp's format for a GGUF model, or a folder of PEFT
   * @param scale factor of its effect; 1 as it was trained
   */
  public record Adapter(Path file, float scale) {}

  /**
   * The device to compute on.
   *
   * @param numbers which of the devices of that kind, from 0 on. Several GPUs have consecutive
   *     layers each; a number may be repeated.
   */
  public record Device(Kind kind, List<Integer> numbers) {
    /** The host's processor. */
    public static final Device CPU = new Device(Kind.CPU, 0);

    /** The first NVIDIA GPU. Needs the module kvasir-cuda. */
    public static final Device CUDA = new Device(Kind.CUDA, 0);

    /** A GPU that supports the request if there is one, else the processor. */
    public static final Device AUTO = new Device(Kind.AUTO, 0);

    /** The kinds of devices. */
    public enum Kind {
      CPU,
      CUDA,
      AUTO
    }

    public Device {
      numbers = List.copyOf(numbers);
      if (numbers.isEmpty()) {
        throw new IllegalArgumentException(
            "the device is %s without a number; expected one".formatted(name(kind)));
      }
      if (numbers.size() > 1 && kind != Kind.CUDA) {
        throw new IllegalArgumentException(
            "the device is %s with the numbers %s; expected one".formatted(name(kind), numbers));
      }
      for (int number : numbers) {
        if (number < 0 || number > 0 && kind != Kind.CUDA) {
          throw new IllegalArgumentException(
              "the device is %s with number %d; expected %s"
                  .formatted(name(kind), number, kind == Kind.CUDA ? "0 or more" : "0"));
        }
      }
    }

    public Device(Kind kind, int number) {
      this(kind, List.of(number));
    }

    /**
     * Returns an NVIDIA GPU. Loading a model fails if there is no such GPU.
     *
     * @param number from 0 on, in the driver's order
     */
    public static Device cuda(int number) {
      return new Device(Kind.CUDA, number);
    }

    /**
     * Returns several NVIDIA GPUs. Each holds consecutive layers of the model, with their keys and
     * values, and computes them after the GPU before it.
     *
     * @param numbers in the order of layers
     */
    public static Device cuda(List<Integer> numbers) {
      return new Device(Kind.CUDA, numbers);
    }

    private static String name(Kind kind) {
      return kind.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the device as the option {@code --device} has it, such as {@code cuda:1} or {@code
     * cuda:0,cuda:1}.
     */
    @Override
    public String toString() {
      return numbers.equals(List.of(0))
          ? name(kind)
          : numbers.stream()
              .map(number -> "%s:%d".formatted(name(kind), number))
              .collect(Collectors.joining(","));
    }
  }

  /**
   * How tokens are proposed, so that one step verifies several of them. Texts and logprobs are the
   * same with all kinds; only the time differs.
   *
   * @param draftModel the file of a {@link Kind#MODEL}
   */
  public record Speculation(Kind kind, Optional<Path> draftModel) {
    /** What proposes tokens. */
    public enum Kind {
      /** Nothing: a step computes one token. */
      OFF,
      /** The prompt and the text so far, where the last tokens occur in them. */
      NGRAM,
      /** The same as {@link #NGRAM} where the device can verify tokens, else nothing. */
      AUTO,
      /** A smaller model with the same vocabulary. */
      MODEL
    }

    public Speculation {
      if (draftModel.isPresent() != (kind == Kind.MODEL)) {
        throw new IllegalArgumentException(
            "the kind of speculation is %s with the draft model %s; expected one for MODEL only"
                .formatted(kind, draftModel.map(Path::toString).orElse("(none)")));
      }
    }

    public static Speculation off() {
      return new Speculation(Kind.OFF, Optional.empty());
    }

    public static Speculation ngram() {
      return new Speculation(Kind.NGRAM, Optional.empty());
    }

    public static Speculation auto() {
      return new Speculation(Kind.AUTO, Optional.empty());
    }

    /**
     * @param file a GGUF file or a Hugging Face folder
     */
    public static Speculation draftModel(Path file) {
      return new Speculation(Kind.MODEL, Optional.of(file));
    }
  }

  /** Called while a model is downloaded and its weights are loaded. */
  @FunctionalInterface
  public interface Progress {
    void layers(int done, int total);

    /**
     * Called while a model that was named is downloaded; not at all if the cache has it.
     *
     * @param done bytes on the disk, those of an earlier attempt included
     * @param total bytes of all files that were missing
     */
    default void downloaded(long done, long total) {}
  }

  public LoadOptions {
    adapters = List.copyOf(adapters);
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
    private Speculation speculation = Speculation.off();
    private final List<Adapter> adapters = new ArrayList<>();
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

    /** Sets what proposes tokens; the texts are the same with all kinds. */
    public Builder speculation(Speculation value) {
      speculation = value;
      return this;
    }

    /** Adds a low-rank adapter, whose effect is multiplied by a scale; several are added up. */
    public Builder adapter(Path file, float scale) {
      adapters.add(new Adapter(file, scale));
      return this;
    }

    public Builder progress(Progress value) {
      progress = value;
      return this;
    }

    public LoadOptions build() {
      return new LoadOptions(
          threads, profile, contextLimit, cacheMemory, device, speculation, adapters, progress);
    }
  }
}

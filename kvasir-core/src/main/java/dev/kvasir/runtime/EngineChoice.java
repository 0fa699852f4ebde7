package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.spi.EngineProvider;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;

/** Loads a model's weights on the chosen device. */
final class EngineChoice {
  private final EngineOptions options;
  private final WorkerPool workers;
  private final MemoryPool memory;
  private final Optional<EngineProvider> provider;
  private final LoraAdapters adapters;

  /**
   * @param adapters those of the options, read
   * @param memory of the KV caches on the processor; devices have their own
   */
  EngineChoice(
      EngineOptions options, LoraAdapters adapters, WorkerPool workers, MemoryPool memory) {
    this(options, adapters, workers, memory, provider());
  }

  EngineChoice(
      EngineOptions options,
      LoraAdapters adapters,
      WorkerPool workers,
      MemoryPool memory,
      Optional<EngineProvider> provider) {
    this.options = options;
    this.workers = workers;
    this.memory = memory;
    this.provider = provider;
    this.adapters = adapters;
  }

  /**
   * Loads an open file and takes ownership: it is closed with the engine, or if the file is
   * rejected.
   */
  DecoderEngine load(GgufFile file) {
    if (options.outliers().isPresent() || !adapters.isEmpty()) {
      requireProcessor();
      return withOutliers(onHost(file));
    }
    return switch (options.device().kind()) {
      case CPU -> onHost(file);
      case CUDA -> onDevice(file, () -> ModelConfig.of(file));
      case AUTO -> onDeviceOrHost(file, () -> ModelConfig.of(file), () -> onHost(file));
    };
  }

  /** Loads a Hugging Face folder. */
  DecoderEngine load(Path folder) {
    if (options.outliers().isPresent() || !adapters.isEmpty()) {
      requireProcessor();
      return withOutliers(onHost(folder));
    }
    return switch (options.device().kind()) {
      case CPU -> onHost(folder);
      case CUDA -> onDevice(SafetensorsFolder.open(folder), () -> ModelConfig.of(folder));
      case AUTO -> onDeviceOrHost(folder);
    };
  }

  private HostEngine withOutliers(HostEngine engine) {
    try {
      return options.outliers().map(engine::withOutliers).orElse(engine);
    } catch (InvalidInputException e) {
      engine.close();
      throw e;
    }
  }

  private void requireProcessor() {
    if (options.device().kind() == Device.Kind.CUDA) {
      throw new InvalidInputException(
          "the device is cuda; outliers and adapters are computed on the processor, expected the"
              + " device cpu");
    }
  }

  private HostEngine onHost(GgufFile file) {
    return HostEngine.load(
        file, options.context(), options.kernels(), workers, memory, adapters, options.progress());
  }

  private HostEngine onHost(Path folder) {
    return HostEngine.load(
        folder,
        options.context(),
        options.kernels(),
        workers,
        memory,
        adapters,
        options.progress());
  }

  private DecoderEngine onDevice(TensorSource file, Supplier<ModelConfig> config) {
    try (file) {
      return opened(file, config.get(), provider.orElseThrow(EngineChoice::noProvider));
    }
  }

  /**
   * Tries the device first. It may fail late for lack of memory, so the file stays open until one
   * engine has it.
   */
  private DecoderEngine onDeviceOrHost(
      TensorSource file, Supplier<ModelConfig> config, Supplier<HostEngine> onHost) {
    if (provider.isEmpty()) {
      return onHost.get();
    }
    DecoderEngine engine;
    try {
      engine = opened(file, config.get(), provider.get());
    } catch (InvalidInputException refusal) {
      return onHost.get().asFallback(refusal.getMessage());
    }
    file.close();
    return engine;
  }

  /** The same for a folder, which the host maps again. */
  private DecoderEngine onDeviceOrHost(Path folder) {
    try (SafetensorsFolder file = SafetensorsFolder.open(folder)) {
      return onDeviceOrHost(file, () -> ModelConfig.of(folder), () -> onHost(folder));
    }
  }

  private DecoderEngine opened(TensorSource file, ModelConfig config, EngineProvider device) {
    device
        .unavailableReason()
        .ifPresent(
            why -> {
              throw new InvalidInputException(why);
            });
    EngineProvider.LoadRequest request = request(file, config);
    device.check(request);
    return device.open(request);
  }

  private EngineProvider.LoadRequest request(TensorSource file, ModelConfig config) {
    return new EngineProvider.LoadRequest(
        file,
        options.context().isPresent()
            ? config.withContextLength(options.context().getAsInt())
            : config,
        options.device().device().numbers(),
        options.device().cacheSpecs(),
        options.cacheBytes(),
        options.progress());
  }

  /** Returns the provider of CUDA devices, if its module is on the class path. */
  static Optional<EngineProvider> provider() {
    return ServiceLoader.load(EngineProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(each -> each.device().equals(Device.CUDA.toString()))
        .findFirst();
  }

  private static InvalidInputException noProvider() {
    return new InvalidInputException(
        "the device is cuda; expected the module kvasir-cuda on the class path");
  }
}

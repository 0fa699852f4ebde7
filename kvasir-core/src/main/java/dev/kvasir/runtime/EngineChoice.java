package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.spi.EngineProvider;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;

/** Loads a model's weights on the chosen device. */
final class EngineChoice {
  private final EngineOptions options;
  private final WorkerPool workers;
  private final Optional<EngineProvider> provider;
  private final LoraAdapters adapters;

  EngineChoice(EngineOptions options, WorkerPool workers) {
    this(options, workers, provider());
  }

  EngineChoice(EngineOptions options, WorkerPool workers, Optional<EngineProvider> provider) {
    this.options = options;
    this.workers = workers;
    this.provider = provider;
    this.adapters = LoraAdapters.read(options.adapters());
  }

  /**
   * Loads an open file and takes ownership: it is closed with the engine, or if the file is
   * rejected.
   */
  DecoderEngine load(GgufFile file) {
    if (options.outliers().isPresent() || !options.adapters().isEmpty()) {
      requireProcessor();
      return withOutliers(onHost(file));
    }
    return switch (options.device().type()) {
      case CPU -> onHost(file);
      case CUDA -> onDevice(file, provider.orElseThrow(EngineChoice::noProvider));
      case AUTO -> provider.isPresent() ? onDeviceOrHost(file, provider.get()) : onHost(file);
    };
  }

  DecoderEngine load(Path folder) {
    if (!adapters.isEmpty()) {
      throw new InvalidInputException(
          "%s: is a folder of Hugging Face; adapters are applied to GGUF files".formatted(folder));
    }
    if (options.device().type() == Device.CUDA) {
      throw new InvalidInputException(
          "%s: is a folder of Hugging Face; a device loads GGUF files".formatted(folder));
    }
    return withOutliers(
        HostEngine.load(
            folder, options.context(), options.kernels(), workers, pool(), options.progress()));
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
    if (options.device().type() == Device.CUDA) {
      throw new InvalidInputException(
          "the device is cuda; outliers and adapters are computed on the processor, expected the"
              + " device cpu");
    }
  }

  private HostEngine onHost(GgufFile file) {
    return HostEngine.load(
        file, options.context(), options.kernels(), workers, pool(), adapters, options.progress());
  }

  private DecoderEngine onDevice(GgufFile file, EngineProvider device) {
    try (file) {
      return opened(file, device);
    }
  }

  /**
   * Tries the device first. It may fail late for lack of memory, so the file stays open until one
   * engine has it.
   */
  private DecoderEngine onDeviceOrHost(GgufFile file, EngineProvider device) {
    DecoderEngine engine;
    try {
      engine = opened(file, device);
    } catch (InvalidInputException refusal) {
      return onHost(file).asFallback(refusal.getMessage());
    }
    file.close();
    return engine;
  }

  private DecoderEngine opened(GgufFile file, EngineProvider device) {
    device
        .unavailableReason()
        .ifPresent(
            why -> {
              throw new InvalidInputException(why);
            });
    EngineProvider.LoadRequest request = request(file);
    device.check(request);
    return device.open(request);
  }

  private EngineProvider.LoadRequest request(GgufFile file) {
    ModelConfig config = ModelConfig.of(file);
    return new EngineProvider.LoadRequest(
        file,
        options.context().isPresent()
            ? config.withContextLength(options.context().getAsInt())
            : config,
        options.device().cacheSpecs(),
        options.cacheBytes(),
        options.progress());
  }

  private MemoryPool pool() {
    return new MemoryPool(options.cacheBytes());
  }

  private static Optional<EngineProvider> provider() {
    return ServiceLoader.load(EngineProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(each -> each.device().equals(Device.CUDA.name().toLowerCase(Locale.ROOT)))
        .findFirst();
  }

  private static InvalidInputException noProvider() {
    return new InvalidInputException(
        "the device is cuda; expected the module kvasir-cuda on the class path");
  }
}

package dev.kvasir.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.spi.EngineProvider;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the bundled model runs if a device rejects it. */
class EngineChoiceTest {
  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  /** The moment at which a device rejects the model. */
  private enum Rejecting implements EngineProvider {
    THERE_IS_NONE,
    IT_CANNOT_DO_THIS,
    ITS_MEMORY_IS_FULL;

    @Override
    public String device() {
      return "cuda";
    }

    @Override
    public Optional<String> unavailableReason() {
      return this == THERE_IS_NONE ? Optional.of(name()) : Optional.empty();
    }

    @Override
    public void check(LoadRequest request) {
      if (this == IT_CANNOT_DO_THIS) {
        throw new InvalidInputException(name());
      }
    }

    @Override
    public DecoderEngine open(LoadRequest request) {
      throw new InvalidInputException(name());
    }
  }

  private DecoderEngine loaded(Device place, Optional<EngineProvider> device) {
    EngineOptions options =
        EngineOptions.defaults().withDevice(new DeviceChoice(place, List.of(CacheSpec.DEFAULT)));
    return new EngineChoice(options, LoraAdapters.NONE, workers, MemoryPool.unlimited(), device)
        .load(BundledFiles.open());
  }

  @ParameterizedTest
  @EnumSource
  void rejectedModelsRunOnTheCpuWithAReason(Rejecting device) {
    try (DecoderEngine engine = loaded(Device.AUTO, Optional.of(device))) {
      assertThat(engine.device()).isEqualTo("the processor: " + device.name());
      assertThat(engine.weightBytes()).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void explicitDeviceRequestsFail(Rejecting device) {
    assertThatThrownBy(() -> loaded(Device.CUDA, Optional.of(device)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(device.name());
  }

  @Test
  void missingDevicesAreNotReported() {
    try (DecoderEngine engine = loaded(Device.AUTO, Optional.empty())) {
      assertThat(engine.device()).isEqualTo("the processor");
    }
  }
}

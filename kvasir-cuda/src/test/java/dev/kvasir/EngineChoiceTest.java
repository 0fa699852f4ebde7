package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.DeviceChoice.Place;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Crew;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.EngineProvider;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the bundled model goes when a device refuses it. */
class EngineChoiceTest {
  private final Crew crew = new Crew(1);

  @AfterEach
  void close() {
    crew.close();
  }

  /** When a device says no. */
  private enum Refusing implements EngineProvider {
    THERE_IS_NONE,
    IT_CANNOT_DO_THIS,
    ITS_MEMORY_IS_FULL;

    @Override
    public String device() {
      return "cuda";
    }

    @Override
    public Optional<String> refusal() {
      return this == THERE_IS_NONE ? Optional.of(name()) : Optional.empty();
    }

    @Override
    public void check(Request request) {
      if (this == IT_CANNOT_DO_THIS) {
        throw new InvalidInputException(name());
      }
    }

    @Override
    public DecoderEngine open(Request request) {
      throw new InvalidInputException(name());
    }
  }

  private DecoderEngine loaded(Place place, Optional<EngineProvider> device) {
    LoadOptions options =
        LoadOptions.defaults().withDevice(new DeviceChoice(place, List.of(CacheSpec.DEFAULT)));
    return new EngineChoice(options, crew, device).load(Model.openBundled());
  }

  @ParameterizedTest
  @EnumSource
  void whatADeviceRefusesAtAnyTimeComputesOnTheProcessorAndSaysWhy(Refusing device) {
    try (DecoderEngine engine = loaded(Place.AUTO, Optional.of(device))) {
      assertThat(engine.place()).isEqualTo("the processor: " + device.name());
      assertThat(engine.weightBytes()).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whoAsksForTheDeviceIsRefused(Refusing device) {
    assertThatThrownBy(() -> loaded(Place.CUDA, Optional.of(device)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(device.name());
  }

  @Test
  void withoutDevicesThereIsNothingToSay() {
    try (DecoderEngine engine = loaded(Place.AUTO, Optional.empty())) {
      assertThat(engine.place()).isEqualTo("the processor");
    }
  }
}

package dev.kvasir.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The device of sequences that are stored; none of these needs a GPU. */
class DeviceChoiceTest {
  private static List<CacheSpec> specs(String... texts) {
    return Stream.of(texts).map(CacheSpec::parse).toList();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CUDA")
  void onlyANamedGpuStores(Device.Kind kind) {
    assertThat(new DeviceChoice(new Device(kind, 0), specs("fp16", "mead:2")).storing())
        .isEqualTo(DeviceChoice.CPU);
  }

  @Test
  void aGpuKeepsItsNumberAndItsCaches() {
    DeviceChoice choice = new DeviceChoice(Device.cuda(3), specs("fp16", "kivi:2", "kivi:4"));
    assertThat(choice.storing()).isEqualTo(choice);
  }

  @Test
  void everyCacheMustBeStorable() {
    DeviceChoice choice = new DeviceChoice(Device.CUDA, specs("fp16", "patternkv:4"));
    assertThatThrownBy(choice::storing)
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'patternkv:4' cannot be stored from a GPU; expected fp16, kivi or kvtuner,"
                + " or --device cpu");
  }
}

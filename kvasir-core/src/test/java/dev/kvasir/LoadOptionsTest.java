package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.runtime.EngineOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The device of a model. */
class LoadOptionsTest {
  @Test
  void aGpuHasANumber() {
    assertThat(Device.cuda(0)).isEqualTo(Device.CUDA);
    LoadOptions options = LoadOptions.builder().device(Device.cuda(2)).build();
    assertThat(options.device()).isNotEqualTo(Device.CUDA);
    assertThat(options.device().numbers()).containsExactly(2);
    assertThat(EngineOptions.of(options).device().device()).isEqualTo(Device.cuda(2));
  }

  @Test
  void devicesAreNamedLikeTheOptionOfTheCommandLine() {
    assertThat(Device.CPU).hasToString("cpu");
    assertThat(Device.AUTO).hasToString("auto");
    assertThat(Device.CUDA).hasToString("cuda");
    assertThat(Device.cuda(12)).hasToString("cuda:12");
    assertThat(Device.cuda(List.of(0, 1))).hasToString("cuda:0,cuda:1");
  }

  @Test
  void onlyGpusHaveNumbers() {
    assertThatThrownBy(() -> Device.cuda(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the device is cuda with number -1; expected 0 or more");
    assertThatThrownBy(() -> new Device(Device.Kind.AUTO, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the device is auto with number 1; expected 0");
    assertThatThrownBy(() -> new Device(Device.Kind.CPU, List.of(0, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the device is cpu with the numbers [0, 0]; expected one");
    assertThatThrownBy(() -> Device.cuda(List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the device is cuda without a number; expected one");
  }
}

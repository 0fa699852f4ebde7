package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {
  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, LINUX_X86_64",
    "Linux, x86_64, LINUX_X86_64",
    "Linux, aarch64, LINUX_AARCH64",
    "Mac OS X, aarch64, MACOS_AARCH64",
    "Windows 11, amd64, WINDOWS_X86_64"
  })
  void isFoundByWhatJavaCallsIt(String system, String processor, Platform expected) {
    assertThat(Platform.of(system, processor)).isEqualTo(expected);
  }

  @Test
  void othersAreRefusedBySentence() {
    assertThatThrownBy(() -> Platform.of("Mac OS X", "x86_64"))
        .isInstanceOf(NativeRefusal.class)
        .hasMessage("there is no library for Mac OS X on x86_64");
    assertThatThrownBy(() -> Platform.of("Linux", "riscv64"))
        .isInstanceOf(NativeRefusal.class)
        .hasMessage("there is no library for Linux on riscv64");
  }
}

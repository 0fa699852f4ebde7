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
    "Mac OS X, x86_64, MACOS_X86_64",
    "Windows 11, aarch64, WINDOWS_AARCH64",
    "Windows 11, amd64, WINDOWS_X86_64"
  })
  void isFoundByWhatJavaCallsIt(String system, String processor, Platform expected) {
    assertThat(Platform.of(system, processor)).isEqualTo(expected);
  }

  @Test
  void othersAreRefusedBySentence() {
    assertThatThrownBy(() -> Platform.of("FreeBSD", "amd64"))
        .isInstanceOf(NativeUnavailableException.class)
        .hasMessageStartingWith("there is no library for FreeBSD on amd64; ");
    assertThatThrownBy(() -> Platform.of("Linux", "riscv64"))
        .isInstanceOf(NativeUnavailableException.class)
        .hasMessage(
            "there is no library for Linux on riscv64; tools/native/build makes them"
                + " for Linux, macOS and Windows on aarch64 and x86_64");
  }
}

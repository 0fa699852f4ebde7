package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HubSettingsTest {
  @TempDir Path home;

  private HubSettings of(Map<String, String> variables) {
    return HubSettings.of(variables::get, home);
  }

  @Test
  void theDefaultsAreThoseOfPython() {
    HubSettings settings = of(Map.of());
    assertThat(settings.endpoint()).hasToString("https://huggingface.co");
    assertThat(settings.cache()).isEqualTo(home.resolve(".cache/huggingface/hub"));
    assertThat(settings.token()).isEmpty();
    assertThat(settings.offline()).isFalse();
    assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void variablesAreReadInPythonsOrder() {
    assertThat(of(Map.of("XDG_CACHE_HOME", "/x")).cache()).isEqualTo(Path.of("/x/huggingface/hub"));
    assertThat(of(Map.of("HF_HOME", "~/h", "XDG_CACHE_HOME", "/x")).cache())
        .isEqualTo(home.resolve("h/hub"));
    assertThat(of(Map.of("HF_HUB_CACHE", "/c", "HF_HOME", "/h")).cache()).isEqualTo(Path.of("/c"));
    assertThat(of(Map.of("HF_ENDPOINT", "http://mirror:8080/")).endpoint())
        .hasToString("http://mirror:8080");
    assertThat(of(Map.of("HF_HUB_OFFLINE", "true")).offline()).isTrue();
    assertThat(of(Map.of("HF_HUB_OFFLINE", "0")).offline()).isFalse();
    assertThat(of(Map.of("HF_HUB_DISABLE_SYMLINKS", "1")).links()).isFalse();
  }

  @Test
  void theTokenComesFromTheEnvironmentOrTheFile() throws IOException {
    Files.createDirectories(home.resolve(".cache/huggingface"));
    Files.writeString(home.resolve(".cache/huggingface/token"), "filed\n");
    assertThat(of(Map.of()).token()).contains("filed");
    assertThat(of(Map.of("HF_TOKEN", "given")).token()).contains("given");
    assertThat(of(Map.of("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")).token()).isEmpty();
    assertThat(of(Map.of("HF_TOKEN", "given")).toString()).doesNotContain("given");
  }

  @Test
  void badValuesAreRefused() {
    assertThatThrownBy(() -> of(Map.of("HF_ENDPOINT", "mirror")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("HF_ENDPOINT is 'mirror'; expected an address");
    assertThatThrownBy(() -> of(Map.of("HF_TOKEN", "a b")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageNotContaining("a b");
    assertThatThrownBy(() -> of(Map.of("HF_HUB_DOWNLOAD_TIMEOUT", "soon")))
        .hasMessageContaining("HF_HUB_DOWNLOAD_TIMEOUT is 'soon'; expected 1 to 3600 seconds");
  }
}

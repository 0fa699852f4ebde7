package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HubReferenceTest {
  @Test
  void allPartsAreRead() {
    HubReference reference =
        HubReference.parse("hf:Qwen/Qwen3-0.6B-GGUF:sub/a-Q8_0.gguf@refs/pr/1");
    assertThat(reference.repository()).isEqualTo("Qwen/Qwen3-0.6B-GGUF");
    assertThat(reference.selector()).contains("sub/a-Q8_0.gguf");
    assertThat(reference.revision()).isEqualTo("refs/pr/1");
    assertThat(HubReference.parse(reference.toString())).isEqualTo(reference);
    assertThat(HubReference.parse("hf://Qwen/Qwen3").toString()).isEqualTo("hf:Qwen/Qwen3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hf:",
        "hf:a",
        "hf:/b",
        "hf:a/",
        "hf:a/b/c",
        "hf:../b",
        "hf:a/..",
        "hf:a/b--c",
        "hf:a/b:",
        "hf:a/b@",
        "hf:a/b:../x.gguf",
        "hf:a/b@../x",
        "hf:a/b:/etc/passwd",
        "hf:a b/c",
        "hf:a/b:x@y@z",
        "hf:a/b.",
        "hf:-a/b",
        "hf:a/b@x/../y",
        "a/b"
      })
  void malformedOnesAreRefused(String text) {
    assertThatThrownBy(() -> HubReference.parse(text))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("the model is '" + text + "'", "expected hf:OWNER/REPO");
  }

  @Test
  void aPathIsNoReference() {
    assertThat(HubReference.isReference("models/a.gguf")).isFalse();
    assertThat(HubReference.looksLikeName("Qwen/Qwen3-8B")).isTrue();
    assertThat(HubReference.looksLikeName("models/a.gguf")).isFalse();
    assertThat(HubReference.looksLikeName("/models/a")).isFalse();
  }
}

package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import org.junit.jupiter.api.Test;

class DecodeBenchTest {
  @Test
  void aCommaBeforeAKeyBelongsToItsSpec() {
    assertThat(DecodeBench.specs("fp16,kivi:2,group=32,sinks=4,kivi:4;bf16"))
        .extracting(CacheSpec::toString)
        .containsExactly("fp16", "kivi:2,group=32,sinks=4", "kivi:4", "bf16");
  }

  @Test
  void aBadSpecIsNamed() {
    assertThatThrownBy(() -> DecodeBench.specs("fp16,kivi:9"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("kivi:9");
  }
}

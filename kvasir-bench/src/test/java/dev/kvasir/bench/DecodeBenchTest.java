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

  @Test
  void aBudgetTooSmallForTheLongestContextIsRefusedBeforeAnyWork() {
    Refusal.of(DecodeBench::new, "--context", "0,8192", "--kv", "fp16;pmkvq:2,budget=2MiB")
        .says(
            "'pmkvq:2,budget=2MiB' holds 1665 tokens", "--context is 8192, and 128 come after it");
    Refusal.of(DecodeBench::new, "--context", "1600", "--kv", "pmkvq:2,budget=2MiB")
        .says("--context is 1600, and 128 come after it");
  }

  @Test
  void contextsThatTheModelCannotHoldAreRefusedBeforeAnyWork() {
    Refusal.of(DecodeBench::new, "--context", "0,16384")
        .says("--context is 16384; expected 0 to 16256");
    Refusal.of(DecodeBench::new, "--context", "0,-1").says("--context is -1; expected 0 to 16256");
  }

  @Test
  void numbersThatLeaveNothingToMeasureAreRefused() {
    Refusal.of(DecodeBench::new, "--tokens", "0").says("--tokens is 0; expected at least 1");
    Refusal.of(DecodeBench::new, "--rounds", "0").says("--rounds is 0; expected at least 1");
    Refusal.of(DecodeBench::new, "--threads", "-1").says("--threads is -1; expected at least 0");
  }
}

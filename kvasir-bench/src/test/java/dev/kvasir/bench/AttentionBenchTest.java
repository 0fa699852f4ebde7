package dev.kvasir.bench;

import org.junit.jupiter.api.Test;

class AttentionBenchTest {
  @Test
  void aBudgetTooSmallForTheLongestTextIsRefusedBeforeAnyWork() {
    Refusal.of(
            AttentionBench::new,
            "--tokens",
            "128,8192",
            "--head-dim",
            "64",
            "--kv",
            "fp16;pmkvq:2,budget=1MiB")
        .says("'pmkvq:2,budget=1MiB,operands=15' holds ", "--tokens is 8192");
  }

  @Test
  void aKindWithoutItsProfileIsRefusedBeforeAnyWork() {
    Refusal.of(AttentionBench::new, "--tokens", "128", "--kv", "fp16;mixkvq")
        .says("the cache 'mixkvq' has no thresholds", "high=A,mid=B");
  }

  @Test
  void numbersThatLeaveNothingToMeasureAreRefused() {
    Refusal.of(AttentionBench::new, "--tokens", "0").says("--tokens is 0; expected at least 1");
    Refusal.of(AttentionBench::new, "--query-heads", "9")
        .says("--query-heads is 9; expected a multiple of the 8 KV heads");
  }
}

package dev.kvasir.bench;

import org.junit.jupiter.api.Test;

class StartBenchTest {
  @Test
  void numbersThatLeaveNothingToMeasureAreRefused() {
    Refusal.of(StartBench::new, "--rounds", "0").says("--rounds is 0; expected at least 1");
    Refusal.of(StartBench::new, "--prompt-tokens", "16,0")
        .says("--prompt-tokens is 0; expected at least 1");
    Refusal.of(StartBench::new, "--kv", "kivi:9").says("kivi:9");
  }
}

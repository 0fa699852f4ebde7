package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NarrowDraftBenchTest {
  @Test
  void aRoundHasTheTokensThatAgreeAndOneMore() {
    boolean[] agrees = {true, true, false, true, false, false};
    assertThat(NarrowDraftBench.perRound(agrees, 1)).isEqualTo(6.0 / 4);
    assertThat(NarrowDraftBench.perRound(agrees, 5)).isEqualTo(6.0 / 3);
    assertThat(NarrowDraftBench.perRound(new boolean[] {true, true, true, true}, 3)).isEqualTo(4);
  }
}

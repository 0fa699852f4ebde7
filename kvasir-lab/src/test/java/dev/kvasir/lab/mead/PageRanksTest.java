package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.Page;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PageRanksTest {
  private static final int TOKENS = PageRanks.SINKS + 2 * Page.TOKENS + 40;

  @Test
  void mostAttendedTokensHaveTheFirstRank() {
    float[] received = new float[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
      received[i] = i;
    }
    PageRanks ranks = new PageRanks(received, 1);
    assertThat(ranks.pages()).isEqualTo(2);
    int first = PageRanks.SINKS;
    assertThat(ranks.rankOf(0, first + Page.TOKENS - 1)).isZero();
    assertThat(ranks.rankOf(0, first + Page.TOKENS - 16)).isZero();
    assertThat(ranks.rankOf(0, first + Page.TOKENS - 17)).isEqualTo(1);
    assertThat(ranks.rankOf(0, first)).isEqualTo(7);
  }

  @Test
  void sinksAndIncompletePagesHaveNoRank() {
    PageRanks ranks = new PageRanks(new float[TOKENS], 1);
    assertThat(ranks.rankOf(0, PageRanks.SINKS - 1)).isEqualTo(PageRanks.NONE);
    assertThat(ranks.rankOf(0, PageRanks.SINKS + 2 * Page.TOKENS)).isEqualTo(PageRanks.NONE);
  }

  @Test
  void lateSinksHaveNoRank() {
    float[] received = new float[2 * TOKENS];
    Arrays.fill(received, 1);
    int sink = PageRanks.SINKS + 30;
    received[2 * sink] = 60;
    PageRanks ranks = new PageRanks(received, 2);
    assertThat(ranks.rankOf(0, sink)).isEqualTo(PageRanks.NONE);
    assertThat(ranks.rankOf(1, sink)).isEqualTo(PageRanks.NONE);
    assertThat(ranks.rankOf(1, sink + 1)).isNotEqualTo(PageRanks.NONE);
  }
}

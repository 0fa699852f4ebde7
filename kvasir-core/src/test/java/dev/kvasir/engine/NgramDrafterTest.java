package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NgramDrafterTest {
  private static final DraftCosts ALL = (chances, count, nanos) -> count;

  private final NgramDrafter drafter = new NgramDrafter();

  private int[] draft(int max) {
    int[] out = new int[Drafter.MAX_TOKENS];
    return Arrays.copyOf(out, drafter.draft(ALL, max, out));
  }

  private void begin(int... text) {
    drafter.begin(text, text.length);
  }

  @Test
  void whatFollowedTheLastTokensIsProposed() {
    begin(1, 2, 3, 4, 5, 6, 9, 1, 2, 3);
    assertThat(draft(3)).containsExactly(4, 5, 6);
    drafter.append(4);
    assertThat(draft(2)).containsExactly(5, 6);
  }

  @Test
  void theLongestAndLastMatchCounts() {
    begin(1, 2, 3, 4, 50, 0, 2, 7, 3, 4, 60, 0, 1, 2, 3, 4);
    assertThat(draft(1)).containsExactly(50);
    begin(3, 4, 50, 0, 3, 4, 60, 0, 3, 4);
    assertThat(draft(1)).containsExactly(60);
  }

  @Test
  void nothingIsProposedForNewTokens() {
    begin(1, 2, 3, 4);
    assertThat(draft(5)).isEmpty();
    begin(7);
    assertThat(draft(5)).isEmpty();
  }

  @Test
  void aLoopGoesOn() {
    begin(1, 2, 1, 2, 1, 2);
    assertThat(draft(5)).containsExactly(1, 2, 1, 2, 1);
  }

  @Test
  void aLongMatchResumesAfterAnotherToken() {
    begin(1, 2, 3, 4, 5, 6, 7, 8, 20, 1, 2, 3, 4);
    drafter.append(99); // in place of 5
    assertThat(draft(3)).containsExactly(6, 7, 8);
  }

  @Test
  void aTextOfAnyLengthIsIndexed() {
    int[] text = new Random(1).ints(5_000, 0, 1_000_000).toArray();
    drafter.begin(text, 4_000);
    for (int i = 4_000; i < text.length; i++) {
      drafter.append(text[i]);
    }
    for (int i = 100; i < 110; i++) {
      drafter.append(text[i]);
    }
    assertThat(draft(15)).containsExactly(Arrays.copyOfRange(text, 110, 125));
  }

  @Test
  void whatLongTextsRepeatIsFoundAmongTheirLastTokens() {
    int[] text = new Random(3).ints(200_000, 0, 50_000).toArray();
    System.arraycopy(text, 195_000, text, text.length - 10, 10);
    begin(text);
    assertThat(draft(15)).containsExactly(Arrays.copyOfRange(text, 195_010, 195_025));
  }

  @Test
  void rejectedProposalsLowerTheChance() {
    double[] first = new double[2];
    int[] out = new int[Drafter.MAX_TOKENS];
    DraftCosts costs =
        (chances, count, nanos) -> {
          first[1] = chances[0];
          return 0;
        };
    begin(1, 2, 3, 1, 2);
    drafter.draft(costs, 1, out);
    first[0] = first[1];
    for (int i = 0; i < 20; i++) {
      drafter.append(100 + i); // never what was proposed
      drafter.append(1);
      drafter.append(2);
    }
    drafter.draft(costs, 1, out);
    assertThat(first[1]).isLessThan(first[0] / 2);
  }
}

package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RehearsalTest {
  private static final int LONG = 8192;

  private final Rehearsal rehearsal = new Rehearsal();

  /** Reads a prompt as a loop does, and answers how many of its rows were single ones. */
  private int singleRows(int tokens) {
    int single = 0;
    for (int past = 0; past < tokens; ) {
      boolean isSingle = rehearsal.takesOne(past, tokens - past);
      single += isSingle ? 1 : 0;
      past = isSingle ? past + 1 : endOfStep(past);
    }
    return single;
  }

  private static int endOfStep(int past) {
    return past - past % Sequence.PROMPT_STEP + Sequence.PROMPT_STEP;
  }

  @Test
  void theFirstLongPromptIsOneAndNoOther() {
    assertThat(singleRows(LONG)).isEqualTo(256);
    assertThat(singleRows(LONG)).isZero();
  }

  @Test
  void aShortPromptIsNone() {
    assertThat(singleRows(1023)).isZero();
    assertThat(singleRows(1024)).isEqualTo(1);
  }

  @Test
  void nothingIsRehearsedThatRanBefore() {
    for (int step = 0; step < 200; step++) {
      rehearsal.generated(8);
      rehearsal.generated(0);
    }
    assertThat(singleRows(LONG)).isEqualTo(56);
  }
}

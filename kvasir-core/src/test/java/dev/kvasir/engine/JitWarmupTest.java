package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Prompts on a simulated machine with known row times; no clock is used. */
class JitWarmupTest {
  private static final int LONG = 8192;
  private static final long SINGLE = 1_500_000;
  private static final long OF_MANY = 1_000_000;

  private final JitWarmup jitWarmup = new JitWarmup();
  private long singleNanos;

  /** Prefills a prompt like the scheduler and returns how many of its rows were single ones. */
  private int singleRows(int tokens, int slowness) {
    int single = 0;
    for (int past = 0; past < tokens; ) {
      jitWarmup.recordDecode(0);
      boolean isSingle = jitWarmup.takesSingleRow(past, tokens - past);
      int rows = isSingle ? 1 : Math.min(tokens, endOfStep(past)) - past;
      long nanos = slowness * (isSingle ? SINGLE : rows * OF_MANY);
      jitWarmup.recordStep(nanos);
      single += isSingle ? 1 : 0;
      singleNanos += isSingle ? nanos : 0;
      past += rows;
    }
    return single;
  }

  private static int endOfStep(int past) {
    return past - past % Request.PREFILL_STEP + Request.PREFILL_STEP;
  }

  @Test
  void onlyTheFirstLongPromptWarmsUp() {
    assertThat(singleRows(LONG, 1)).isEqualTo(256);
    assertThat(singleRows(LONG, 1)).isZero();
  }

  @Test
  void aShortPromptDoesNotWarmUp() {
    assertThat(singleRows(1024 + Request.PREFILL_STEP - 1, 1)).isZero();
  }

  @Test
  void theShortestPromptHasOneRow() {
    assertThat(singleRows(1024 + Request.PREFILL_STEP, 1)).isEqualTo(1);
  }

  @Test
  void decodingReplacesWarmup() {
    for (int step = 0; step < 200; step++) {
      jitWarmup.recordDecode(8);
      jitWarmup.recordStep(SINGLE);
      jitWarmup.recordDecode(0);
    }
    assertThat(singleRows(LONG, 1)).isEqualTo(56);
  }

  /** Large models gain little from it, and each of their rows takes long. */
  @Test
  void itTakesABoundedTime() {
    assertThat(singleRows(LONG, 200)).isLessThan(5);
    assertThat(singleNanos).isLessThan(1_000_000_000 + 200 * SINGLE);
  }

  @Test
  void itTakesASmallPartOfThePrompt() {
    singleRows(1500, 1);
    assertThat(singleNanos).isLessThan(1500 * OF_MANY / 8 + SINGLE);
  }
}

package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class SampledAnswersTest {
  private static final List<List<Double>> SCORES =
      List.of(
          List.of(1.0, 0.0, 1.0, 1.0), List.of(0.0, 0.0, 1.0, 0.0), List.of(0.0, 0.0, 0.0, 0.0));

  private static SampledAnswers answers() {
    return SampledAnswers.of(
        SCORES,
        List.of(
            List.of("7", "3", "7", "7"), // the right one is the most frequent
            List.of("5", "5", "8", "4"), // a wrong one is
            List.of("", "", "", ""))); // no answer at all
  }

  @Test
  void averageCountsEveryAnswer() {
    assertThat(answers().answers()).isEqualTo(4);
    assertThat(answers().averages()).containsExactly(0.75, 0.25, 0.0);
    assertThat(answers().average().value()).isEqualTo(1.0 / 3, within(1e-12));
  }

  @Test
  void majorityScoresTheMostFrequentAnswer() {
    assertThat(answers().majority()).containsExactly(1.0, 0.0, 0.0);
    assertThat(answers().majorityScore().value()).isEqualTo(1.0 / 3, within(1e-12));
  }

  @Test
  void firstOfEquallyFrequentAnswersWinsAndEmptyOnesDoNotVote() {
    SampledAnswers tied =
        SampledAnswers.of(List.of(List.of(0.0, 1.0, 0.0, 0.0)), List.of(List.of("", "9", "", "6")));
    assertThat(tied.majority()).containsExactly(1.0);
  }

  @Test
  void deviationIsThatOfRuns() {
    assertThat(answers().passes()).containsExactly(1.0 / 3, 0.0, 2.0 / 3, 1.0 / 3);
    // Mean 1/3; squared differences 0, 1/9, 1/9, 0.
    assertThat(answers().deviation()).isEqualTo(Math.sqrt(2.0 / 9 / 3), within(1e-12));
  }

  @Test
  void noAnswersAreSampledByDefault() {
    assertThat(SampledAnswers.NONE.answers()).isZero();
    assertThat(new Score.Answers(new Estimate(1, 1, 1), List.of(1.0)).sampled())
        .isEqualTo(SampledAnswers.NONE);
  }
}

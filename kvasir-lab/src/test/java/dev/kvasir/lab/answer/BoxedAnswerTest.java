package dev.kvasir.lab.answer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoxedAnswerTest {
  @Test
  void theLastCompleteBoxCounts() {
    assertThat(BoxedAnswer.last("\\boxed{3} and then \\boxed{\\frac{1}{2}}."))
        .contains("\\frac{1}{2}");
    assertThat(BoxedAnswer.last("\\boxed{3}, so \\boxed{4")).contains("3");
    assertThat(BoxedAnswer.last("no box")).isEmpty();
    assertThat(BoxedAnswer.isIn("\\boxed {7}")).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\\frac{1}{2} | 0.5",
        "\\dfrac12 | 2/4",
        "-\\frac{6}{4} | -1.5",
        "1,200 | 1200",
        "\\text{12} | 12.",
        "50\\% | 50",
        "90^\\circ | 90",
        "\\left( 3, 4 \\right) | (3,4)",
        "007 | 7"
      })
  void notationsOfOneResultAreEqual(String left, String right) {
    assertThat(MathText.same(left, right)).as("%s and %s", left, right).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"1/2 | 1/3", "12 | 120", "x+1 | x-1", "1/0 | 0"})
  void differentResultsAreNot(String left, String right) {
    assertThat(MathText.same(left, right)).isFalse();
  }

  @Test
  void aChoiceIsBoxedStatedOrAlone() {
    assertThat(ChoiceAnswer.of("A or B? \\boxed{\\text{C}}", 4)).contains('C');
    assertThat(ChoiceAnswer.of("The answer is (B). A is wrong.", 4)).contains('B');
    assertThat(ChoiceAnswer.of("D", 4)).contains('D');
    assertThat(ChoiceAnswer.of("E", 4)).isEmpty();
    assertThat(ChoiceAnswer.of("Every Cat", 4)).isEmpty();
  }
}

package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerNumbersTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "She has 48/2 = 24 clips. #### 72 | 72",
        "That makes $1,200. | 1200",
        "The answer is 1200.0! | 1200",
        "from 12 to -3 | -3",
        "it is 10-4 | 4",
        "10 - -4 | -4",
        "x = 3.50 dollars | 3.5",
        "1,2,3 | 3",
        "about 12,34 | 34",
        "a1-2 | 2",
        "007 | 7",
        "0.00 | 0",
        "So 5 is the answer. | 5"
      })
  void lastNumberCounts(String text, String expected) {
    assertThat(AnswerNumbers.last(text))
        .hasValueSatisfying(number -> assertThat(number).isEqualByComparingTo(expected));
  }

  @ParameterizedTest
  @CsvSource({"no number at all", "-", "''"})
  void textWithoutANumberHasNone(String text) {
    assertThat(AnswerNumbers.last(text)).isEmpty();
    assertThat(AnswerNumbers.firstDigits(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"' 01234\n5', 01234", "'It is 77, not 78.', 77"})
  void firstDigitsKeepLeadingZeros(String text, String expected) {
    assertThat(AnswerNumbers.firstDigits(text)).contains(expected);
  }
}

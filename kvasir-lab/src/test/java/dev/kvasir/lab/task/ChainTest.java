package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ChainTest {
  private static final Chain CHAIN = Chain.draw(Seeds.of(1, "chain", 12, 0), 12);

  @Test
  void wordingMatchesTheTrainingData() {
    assertThat(CHAIN.problem())
        .matches(
            "Problem: Start with a=\\d\\d b=\\d\\d c=\\d\\d d=\\d\\d\\. Apply these steps modulo"
                + " 100\\.\n(\\d+: [a-d]=[a-d][+-][a-d]\n){12}What is [a-d]\\?\nSolution:\n");
    assertThat(CHAIN.solution().subList(0, 12))
        .allMatch(line -> line.matches("\\d+: [a-d]=\\d\\d[+-]\\d\\d=\\d\\d"));
    assertThat(CHAIN.solution().getLast()).isEqualTo("Answer: " + CHAIN.answer());
  }

  /** Runs the program from its text, independently of the code that created it. */
  @Test
  void solutionIsTheExecutionOfTheProgram() {
    Map<String, Integer> values = new HashMap<>();
    Matcher start = Pattern.compile("([a-d])=(\\d\\d)").matcher(CHAIN.problem());
    while (start.find()) {
      values.put(start.group(1), Integer.valueOf(start.group(2)));
    }
    Matcher step = Pattern.compile("(\\d+): ([a-d])=[a-d]([+-])([a-d])").matcher(CHAIN.problem());
    for (String line : CHAIN.solution().subList(0, 12)) {
      assertThat(step.find()).isTrue();
      int left = values.get(step.group(2));
      int right = values.get(step.group(4));
      int result = (left + (step.group(3).equals("+") ? right : 100 - right)) % 100;
      values.put(step.group(2), result);
      assertThat(line)
          .isEqualTo(
              "%s: %s=%02d%s%02d=%02d"
                  .formatted(step.group(1), step.group(2), left, step.group(3), right, result));
    }
    assertThat(CHAIN.answer()).isEqualTo("%02d".formatted(values.get(askedRegister())));
  }

  private static String askedRegister() {
    return CHAIN.problem().replaceAll("(?s).*What is (.)\\?.*", "$1");
  }

  @Test
  void stepsCountUntilTheFirstWrongOne() {
    List<String> lines = CHAIN.solution();
    assertThat(CHAIN.rightSteps(String.join("\n", lines))).isEqualTo(12);
    assertThat(CHAIN.rightSteps(String.join("\n", lines.subList(0, 5)))).isEqualTo(5);
    String slip = String.join("\n", lines).replaceFirst("\n4: ", "\n4:  ");
    assertThat(CHAIN.rightSteps(slip)).isEqualTo(3);
    assertThat(CHAIN.rightSteps("")).isZero();
  }

  @Test
  void solutionMustBeCompletelyCorrect() {
    String right = String.join("\n", CHAIN.solution());
    assertThat(CHAIN.isSolvedBy(right + "\n")).isTrue();
    assertThat(CHAIN.isSolvedBy(right.replaceFirst("=", "+"))).isFalse();
    assertThat(CHAIN.isSolvedBy(String.join("\n", CHAIN.solution().subList(0, 12)))).isFalse();
  }

  @Test
  void anAttemptIsDecidedByItsFirstWrongLineOrItsEnd() {
    String right = String.join("\n", CHAIN.solution());
    for (int length = 0; length <= right.length(); length++) {
      assertThat(CHAIN.isDecidedBy(right.substring(0, length))).isFalse();
    }
    assertThat(CHAIN.isDecidedBy(right + "\n")).isTrue();
    assertThat(CHAIN.isDecidedBy(CHAIN.solution().getFirst() + "\n2: wrong")).isFalse();
    assertThat(CHAIN.isDecidedBy(CHAIN.solution().getFirst() + "\n2: wrong\n")).isTrue();
  }

  @Test
  void seedDeterminesTheProgram() {
    assertThat(Chain.draw(Seeds.of(1, "chain", 12, 0), 12)).isEqualTo(CHAIN);
    assertThat(Chain.draw(Seeds.of(1, "chain", 12, 1), 12)).isNotEqualTo(CHAIN);
  }

  /** Scores of different versions are comparable only while tasks stay the same. */
  @Test
  void tasksStayTheSameFromVersionToVersion() {
    assertThat(CHAIN.solution().getFirst()).isEqualTo("1: b=14-88=26");
  }
}

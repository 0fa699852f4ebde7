package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TaskTextTest {
  @Test
  void questionsComeWithTheirAnswers() {
    String text = TaskText.of(1, 2);
    assertThat(text).contains("Records:\n", "Solution:\n1: ", "\nAnswer: ");
    assertThat(text.split("Question: What is the value of ")).hasSize(13);
    assertThat(text)
        .containsPattern("Question: What is the value of [A-Za-z -]+\\?\nAnswer: \\d{4}\n");
  }

  @Test
  void sameSeedGivesSameTextAndMoreRoundsExtendIt() {
    assertThat(TaskText.of(1, 3)).startsWith(TaskText.of(1, 2));
    assertThat(TaskText.of(2, 2)).isNotEqualTo(TaskText.of(1, 2));
  }
}

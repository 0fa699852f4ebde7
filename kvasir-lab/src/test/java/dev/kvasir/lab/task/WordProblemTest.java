package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordProblemTest {
  @TempDir private Path folder;

  private Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("questions.jsonl"), content);
  }

  @Test
  void everyLineIsAQuestion() throws IOException {
    List<WordProblem> problems =
        WordProblem.read(
            file(
                """
                {"question": "Two and two?", "answer": "2+2=4\\n#### 4"}

                {"answer": 1000, "question": "Ten hundreds?", "more": []}
                """));
    assertThat(problems).hasSize(2);
    assertThat(problems.get(0).isSolvedBy("It is 4.")).isTrue();
    assertThat(problems.get(0).isSolvedBy("4 is not 5")).isFalse();
    assertThat(problems.get(1).isSolvedBy("1,000")).isTrue();
    assertThat(problems.get(1).prompt()).isEqualTo("Question: Ten hundreds?\nAnswer:");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'question': | line 1: is '{'question':'; expected a JSON object",
        "[1] | line 1: is '[1]'; expected a JSON object",
        "\"x\" | line 1: is '\"x\"'; expected a JSON object",
        "{\"answer\": \"4\"} | line 1: 'question' is missing; expected a text",
        "{\"question\": [], \"answer\": \"4\"} | 'question' is '[]'; expected a text",
        "{\"question\": \"a\", \"answer\": \" \"} | 'answer' is '\" \"'; expected a text",
        "{\"question\": \"a\", \"answer\": \"four\"} | 'answer' is 'four'; expected a number in it"
      })
  void badLinesAreNamed(String line, String part) throws IOException {
    Path file = file(line.replace("'question':", "\"question\":") + "\n");
    assertThatThrownBy(() -> WordProblem.read(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("questions.jsonl, line 1: ")
        .hasMessageContaining(
            part.replace("{'question':", "{\"question\":").replace("line 1: ", ""));
  }

  @Test
  void emptyAndMissingFilesAreRejected() throws IOException {
    Path empty = file("\n\n");
    assertThatThrownBy(() -> WordProblem.read(empty)).hasMessageContaining("holds no question");
    assertThatThrownBy(() -> WordProblem.read(folder.resolve("none")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("no such file");
    assertThatThrownBy(() -> WordProblem.read(folder)).hasMessageContaining("is a folder");
  }
}

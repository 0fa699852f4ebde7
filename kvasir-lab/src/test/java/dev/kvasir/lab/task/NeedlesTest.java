package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NeedlesTest {
  private static final String FILLER =
      "It rained. The road was long and wet. Nobody came. ".repeat(90);

  private static Document document(long seed, int sample) {
    return Needles.document(Seeds.of(seed, "needle", 1000, sample), FILLER, 3500, 5);
  }

  @Test
  void wordingMatchesTheTrainingData() {
    Document document = document(1, 0);
    assertThat(document.questions()).hasSize(5);
    for (Question question : document.questions()) {
      assertThat(question.text())
          .matches("\nQuestion: What is the secret number of [a-z]+-[a-z]+\\?\nAnswer:");
      assertThat(question.answer()).matches("\\d{5}");
      String name = question.text().replaceAll("(?s).*number of (\\S+)\\?.*", "$1");
      assertThat(document.text())
          .containsOnlyOnce(". The secret number of %s is %s.".formatted(name, question.answer()));
    }
  }

  @Test
  void withoutItsFactsADocumentIsTheFiller() {
    String prose =
        document(1, 0).text().replaceAll(" The secret number of [a-z]+-[a-z]+ is \\d{5}\\.", "");
    assertThat(prose).hasSize(3500);
    assertThat(FILLER + FILLER).contains(prose);
  }

  @Test
  void everyFifthOfADocumentContainsAFact() {
    assertThat(document(1, 0).questions())
        .extracting(question -> (int) (5 * question.depth()))
        .containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void proseWithoutSentencesTakesFactsAtItsEnd() {
    Document document =
        Needles.document(Seeds.of(1, "needle", 1000, 0), "no end ".repeat(100), 300, 2);
    assertThat(document.questions()).extracting(Question::depth).containsExactly(1.0, 1.0);
  }

  @Test
  void seedAndSampleDetermineTheDocument() {
    assertThat(document(1, 0)).isEqualTo(document(1, 0));
    assertThat(document(1, 0)).isNotEqualTo(document(1, 1));
    assertThat(document(1, 0)).isNotEqualTo(document(2, 0));
  }
}

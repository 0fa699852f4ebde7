package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LookupTextsTest {
  private static final int LENGTH = 1024;
  private static final int TEXTS = 4;

  private static LoadedModel model;
  private static Tokenizer tokenizer;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
    tokenizer = model.tokenizer();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static LookupTexts texts(String prose) {
    return new LookupTexts(tokenizer, List.of(tokenizer.encode(prose, false)), LENGTH, 1);
  }

  private static LookupTexts ofBook() {
    return texts(BundledText.book().substring(0, 20_000));
  }

  @Test
  void everyAnswerIsANumberThatTheTextHasBefore() {
    for (int i = 0; i < TEXTS; i++) {
      MarkedText text = ofBook().text(i);
      assertThat(text.tokens()).hasSize(LENGTH);
      int answers = 0;
      for (int at = 0; at < LENGTH; at++) {
        if (text.answers()[at] && !text.answers()[at - 1]) {
          assertThat(answer(text, at)).matches("\\d{1,5}");
          assertThat(tokenizer.decode(Arrays.copyOf(text.tokens(), at))).contains(answer(text, at));
          answers++;
        }
      }
      assertThat(answers).isGreaterThan(10);
    }
  }

  private static String answer(MarkedText text, int from) {
    int[] answer =
        IntStream.range(from, LENGTH)
            .takeWhile(at -> text.answers()[at])
            .map(at -> text.tokens()[at])
            .toArray();
    return tokenizer.decode(answer).strip();
  }

  @Test
  void theEndHasRandomTokensOfTheProse() {
    int[] prose = tokenizer.encode(BundledText.book().substring(0, 20_000), false);
    MarkedText text = ofBook().text(0);
    int end = LENGTH - LENGTH / 4;
    assertThat(Arrays.stream(text.tokens()).skip(end)).isSubsetOf(box(prose));
    assertThat(IntStream.range(end, LENGTH)).noneMatch(at -> text.answers()[at]);
  }

  private static List<Integer> box(int[] ids) {
    return Arrays.stream(ids).boxed().toList();
  }

  @Test
  void textsDifferAndRepeatWithTheSeed() {
    assertThat(ofBook().text(0).tokens()).isEqualTo(ofBook().text(0).tokens());
    assertThat(ofBook().text(0).tokens()).isNotEqualTo(ofBook().text(1).tokens());
  }

  @Test
  void proseWithoutWordsHasListsOfLetters() {
    assertThat(texts("12 34 56 78. ".repeat(100)).text(0).hasAnswers()).isTrue();
  }
}

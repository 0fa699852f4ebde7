package dev.kvasir.lab.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CalibrationTextsTest {
  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static List<int[]> choose(int count, int length, long seed) {
    return CalibrationTexts.choose(
            model, "the bundled text", BundledText.stream(), count, length, seed)
        .samples();
  }

  @Test
  void samplesAreSegmentsOfTheTextInOrder() {
    String all = model.tokenizer().decode(model.tokenizer().encode(BundledText.stream(), false));
    int from = 0;
    for (int[] sample : choose(4, 300, 1)) {
      assertThat(sample).hasSize(300);
      int at = all.indexOf(model.tokenizer().decode(sample), from);
      assertThat(at).isGreaterThanOrEqualTo(from);
      from = at + 1;
    }
  }

  @Test
  void onlyTheSeedMatters() {
    assertThat(choose(3, 200, 5)).usingRecursiveComparison().isEqualTo(choose(3, 200, 5));
    assertThat(choose(3, 200, 5).getFirst()).isNotEqualTo(choose(3, 200, 6).getFirst());
  }

  @Test
  void impossibleSizesAreRejected() {
    assertRejected(0, 10, "samples is 0; expected at least 1");
    assertRejected(1, 1, "the length of samples is 1; expected 2 to 16384, the model's context");
    assertThatThrownBy(() -> CalibrationTexts.choose(model, "a.txt", "One two.", 1, 100, 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageMatching("a.txt has \\d tokens; expected at least 100, a sample's length");
  }

  private static void assertRejected(int count, int length, String message) {
    assertThatThrownBy(() -> choose(count, length, 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(message);
  }
}

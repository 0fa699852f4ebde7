package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.mead.MeadCheck;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ProfileCheckTest {
  private static final int LENGTH = 640;

  private static LoadedModel model;
  private static ProfileCheck check;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
    Profile profile = model.profile().orElseThrow();
    int[] prose = model.tokenizer().encode(BundledText.book().substring(0, 10_000));
    check = new ProfileCheck(model, profile, prose, LENGTH, 1, 1);
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void manyBitsKeepWhatFp16Answers() {
    MeadCheck.Result result =
        check.run(List.of(6.0), ProgressListener.NONE).orElseThrow().getFirst();
    assertThat(result.questions()).isPositive();
    assertThat(result.kept()).isEqualTo(result.questions());
    assertThat(result.sameNext()).isGreaterThan(0.9);
  }

  @Test
  void aCancelledCheckHasNoResult() {
    ProgressListener cancelled =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {}

          @Override
          public boolean isCancelled() {
            return true;
          }
        };
    assertThat(check.run(List.of(2.0), cancelled)).isEqualTo(Optional.empty());
  }

  @Test
  void questionsAskForEntriesOfTheDocument() {
    HeldOutTexts texts = new HeldOutTexts(model.tokenizer(), LENGTH, 1);
    for (int i = 0; i < 2; i++) {
      MarkedText text = texts.text(i);
      String words = model.tokenizer().decode(text.tokens());
      String document = words.substring(0, words.indexOf("Question"));
      int[] first =
          IntStream.range(0, LENGTH)
              .dropWhile(at -> !text.answers()[at])
              .takeWhile(at -> text.answers()[at])
              .map(at -> text.tokens()[at])
              .toArray();
      assertThat(document).contains(model.tokenizer().decode(first).strip());
    }
  }
}

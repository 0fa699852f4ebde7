package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.text.BundledText;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TextVectorsTest {
  private static final WorkListener QUIET = (done, inAll) -> {};
  private static Model model;

  @BeforeAll
  static void load() {
    model = Model.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static Optional<TextVectors> read(String text, int tokens, WorkListener listener) {
    TextVectors.Settings settings = new TextVectors.Settings(tokens, 128, 1);
    return TextVectors.read(model, "text", text, settings, listener);
  }

  @Test
  void whatIsHeldOutIsTheSecondStretch() {
    String text = BundledText.filler().substring(0, 2000);
    int tokens = model.tokenizer().encode(text, false).length;
    TextVectors all = read(text, 10_000, QUIET).orElseThrow();
    assertThat(all.heldOut().count()).isEqualTo(128);
    assertThat(all.training().count()).isBetween(tokens - 128, tokens - 127 + tokens / 127);
    assertThat(read(text, 100, QUIET).orElseThrow().training().count()).isEqualTo(100);

    TextVectors again = read(text, 10_000, QUIET).orElseThrow();
    assertThat(again.training().vectors(Side.KEYS, 3, 1))
        .isEqualTo(all.training().vectors(Side.KEYS, 3, 1));
  }

  @Test
  void aTextThatLeavesNothingToLearnFromIsRefused() {
    assertThatThrownBy(() -> read("Too short.", 100, QUIET))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("text: is shorter than two stretches of 128 tokens, of which one is held out");
  }

  @Test
  void whoStopsGetsNothing() {
    WorkListener stopped =
        new WorkListener() {
          @Override
          public void progress(double done, double inAll) {}

          @Override
          public boolean stopped() {
            return true;
          }
        };
    assertThat(read(BundledText.filler().substring(0, 2000), 100, stopped)).isEmpty();
  }
}

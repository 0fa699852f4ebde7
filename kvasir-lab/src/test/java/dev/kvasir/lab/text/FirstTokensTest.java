package dev.kvasir.lab.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FirstTokensTest {
  @Test
  void theyAreThoseOfTheWholeText() {
    try (LoadedModel model = LoadedModel.bundled()) {
      Tokenizer tokenizer = model.tokenizer();
      String notes = "\uD834\uDD1E and \u00e9. ".repeat(3000);
      for (String text : new String[] {BundledText.stream(), notes, "Short."}) {
        int[] whole = tokenizer.encode(text);
        for (int count : new int[] {1, 300, 1031, 9000}) {
          int[] first = FirstTokens.of(tokenizer, text, count);
          assertThat(first.length).isGreaterThanOrEqualTo(Math.min(count, whole.length));
          assertThat(first).isEqualTo(Arrays.copyOf(whole, first.length));
        }
      }
    }
  }
}

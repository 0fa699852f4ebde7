package dev.kvasir.lab.synthetic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SizedSamplesTest {
  private static final ToIntFunction<String> WORDS = text -> text.split("\\s+").length;

  @ParameterizedTest
  @EnumSource
  void aSampleFillsItsTokensAndHoldsItsAnswer(SyntheticTask task) {
    SizedSamples samples = new SizedSamples(task, 7, WORDS);
    SyntheticSample sample = samples.draw(0, 900);
    assertThat(WORDS.applyAsInt(sample.prompt())).isBetween(750, 900);
    assertThat(sample.answers()).isNotEmpty().allMatch(sample.context()::contains);
    assertThat(sample.score(String.join(" and ", sample.answers()))).isEqualTo(1);
    assertThat(sample.score("nothing of that")).isZero();
    assertThat(samples.draw(0, 900)).isEqualTo(sample);
    assertThat(samples.draw(1, 900)).isNotEqualTo(sample);
    assertThat(new SizedSamples(task, 8, WORDS).draw(0, 900)).isNotEqualTo(sample);
  }

  @Test
  void theValueOfTheRightKeyIsAskedFor() {
    SyntheticSample pairs = new SizedSamples(SyntheticTask.KEY_VALUE, 1, WORDS).draw(3, 300);
    String key = pairs.question().split("\"")[1];
    assertThat(pairs.context())
        .contains("\"%s\": \"%s\"".formatted(key, pairs.answers().getFirst()));
    SyntheticSample lines = new SizedSamples(SyntheticTask.LINES, 1, WORDS).draw(3, 300);
    String name = lines.question().split(" ")[6].replace("?", "");
    assertThat(lines.context())
        .contains("line %s: the number is <%s>".formatted(name, lines.answers().getFirst()));
  }

  @Test
  void commonWordsAreTheMostFrequent() {
    SyntheticSample words = new SizedSamples(SyntheticTask.COMMON_WORDS, 1, WORDS).draw(0, 600);
    ToIntFunction<String> times =
        word -> (int) words.context().lines().filter(line -> line.endsWith(" " + word)).count();
    String rare =
        words
            .context()
            .lines()
            .map(line -> line.split(" ")[1])
            .filter(word -> !words.answers().contains(word) && word.contains("-"))
            .findFirst()
            .orElseThrow();
    assertThat(words.answers()).allMatch(word -> times.applyAsInt(word) >= 3);
    assertThat(times.applyAsInt(rare)).isEqualTo(1);
  }

  @Test
  void tooFewTokensAreRejected() {
    assertThatThrownBy(() -> new SizedSamples(SyntheticTask.PASSKEY, 1, WORDS).draw(0, 5))
        .hasMessage("the context is 5 tokens; the shortest text of the task 'passkey' takes more");
    assertThatThrownBy(() -> SyntheticTask.named("colours"))
        .hasMessageContaining("known are passkey, number-string");
  }
}

package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StopSequencesTest {
  private final StopSequences stop = new StopSequences(List.of("\nUser:"));

  @Test
  void textIsCutBeforeTheStopSequenceHoweverItIsSplit() {
    assertThat(stop.push("Yes.\n")).isEqualTo("Yes.");
    assertThat(stop.push("Us")).isEmpty();
    assertThat(stop.push("er: and")).isEmpty();
    assertThat(stop.found()).isTrue();
    assertThat(stop.push("more")).isEmpty();
    assertThat(stop.finish()).isEmpty();
  }

  @Test
  void aPartialMatchIsReturnedLater() {
    assertThat(stop.push("a\nUse")).isEqualTo("a");
    assertThat(stop.push("ful\n\n")).isEqualTo("\nUseful\n");
    assertThat(stop.push("User")).isEmpty();
    assertThat(stop.found()).isFalse();
    assertThat(stop.finish()).isEqualTo("\nUser");
  }
}

package dev.kvasir.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpellingTest {
  private static final List<String> KNOWN = List.of("kivi", "mead", "sinks", "--model");

  @Test
  void theNearestWordIsMeant() {
    assertThat(Spelling.nearest("kiwi", KNOWN)).contains("kivi");
    assertThat(Spelling.nearest("--modle", KNOWN)).contains("--model");
    assertThat(Spelling.hint("sink", KNOWN)).isEqualTo("; did you mean 'sinks'?");
  }

  @Test
  void otherWordsMeanNothing() {
    assertThat(Spelling.nearest("", KNOWN)).isEmpty();
    assertThat(Spelling.nearest("ki", KNOWN)).isEmpty();
    assertThat(Spelling.hint("group", KNOWN)).isEmpty();
  }
}

package dev.kvasir.cli.origin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class OriginTest {
  @Test
  void aCommandCanBeTypedAgain() {
    assertThat(Origin.commandLine(List.of("eval", "--kv", "kivi:4,group=32;kivi:2", "a b", "it's")))
        .isEqualTo("kvasir eval --kv 'kivi:4,group=32;kivi:2' 'a b' 'it'\\''s'");
  }
}

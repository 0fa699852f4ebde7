package dev.kvasir.lab.answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Python cannot limit itself on Windows")
class PythonTrialTest {
  @TempDir Path folder;
  private PythonTrial trial;

  @BeforeEach
  void findPython() {
    try {
      trial = PythonTrial.onThisMachine(Duration.ofSeconds(20));
    } catch (InvalidInputException e) {
      assumeThat(trial).as(e.getMessage()).isNotNull();
    }
  }

  @Test
  void programsPassByReachingTheirEnd() {
    assertThat(trial.passes("assert 1 + 1 == 2")).isTrue();
    assertThat(trial.passes("assert 1 + 1 == 3")).isFalse();
    assertThat(trial.passes("import sys\nsys.exit(0)")).isFalse();
    assertThat(trial.passes("this is no program")).isFalse();
  }

  @Test
  void limitsHold() {
    Path file = folder.resolve("written.txt");
    String write = "f = open('%s', 'w')\nf.write('x' * 10)\nf.close()".formatted(file);
    assertThat(trial.passes(write)).isFalse();
    assertThat(!Files.exists(file) || file.toFile().length() == 0).isTrue();
    assertThat(trial.passes("import os\nassert not os.environ.get('PATH')")).isTrue();
    assertThat(PythonTrial.onThisMachine(Duration.ofMillis(300)).passes("while True: pass"))
        .isFalse();
  }
}

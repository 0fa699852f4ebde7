package dev.kvasir.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static final long SECOND = 1_000_000_000L;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private long now;

  private Progress progress(boolean terminal) {
    PrintStream err = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    Streams streams = new Streams(InputStream.nullInputStream(), err, err, false, false, terminal);
    return new Progress(streams, "working", () -> now);
  }

  private String output() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aLogHasALineOnceTheTimeLeftCanBeJudgedAndThenOneAMinute() {
    try (Progress progress = progress(false)) {
      for (int second = 1; second <= 100; second++) {
        now = second * SECOND;
        progress.update(second, 100, "the text");
      }
    }
    assertThat(output().lines())
        .containsExactly("working: 10%, 90 s left, the text", "working: 70%, 30 s left, the text");
  }

  @Test
  void whatAnEarlierRunDidTakesNoTime() {
    try (Progress progress = progress(false)) {
      progress.resumeAt(0.5);
      now = 10 * SECOND;
      progress.update(75, 100);
    }
    assertThat(output().lines()).containsExactly("working: 75%, 10 s left");
  }

  @Test
  void aSlowStartDoesNotCountLater() {
    try (Progress progress = progress(false)) {
      for (int second = 1; second <= 100; second++) {
        now = second * SECOND;
        progress.update(second < 30 ? 0 : second - 30, 100);
      }
    }
    assertThat(output().lines()).containsExactly("working: 0%", "working: 40%, 60 s left");
  }

  @Test
  void theFirstStepIsNoMeasure() {
    try (Progress progress = progress(false)) {
      now = 20 * SECOND;
      progress.update(1, 100);
    }
    assertThat(output().lines()).containsExactly("working: 1%");
  }

  @Test
  void quickWorkPrintsNothing() {
    try (Progress progress = progress(false)) {
      now = 9 * SECOND;
      progress.update(9, 10);
    }
    assertThat(output()).isEmpty();
  }

  @Test
  void aTerminalHasABarThatIsWipedInTheEnd() {
    try (Progress progress = progress(true)) {
      now = 2 * SECOND;
      progress.update(1, 2);
    }
    assertThat(output())
        .contains("working [===============               ] 50%")
        .endsWith("\u001b[K");
  }
}

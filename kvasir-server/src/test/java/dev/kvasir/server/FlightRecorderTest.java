package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recording says about a completion. */
class FlightRecorderTest {
  @TempDir private Path folder;

  @Test
  void stepsQuantizationAndAdmissionAreRecorded() throws Exception {
    Path file = folder.resolve("completion.jfr");
    try (TestServer server = TestServer.start();
        Recording recording = new Recording()) {
      List.of("Step", "Quantization", "Admission")
          .forEach(name -> recording.enable("dev.kvasir." + name).withoutThreshold());
      recording.start();
      server.complete(
          "{\"prompt\": \"%s\", \"max_tokens\": 3}".formatted("The sea was calm. ".repeat(100)));
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(of(events, "Admission"))
        .singleElement()
        .matches(event -> event.getInt("sequences") == 1 && event.getBoolean("isAdmitted"))
        .matches(event -> event.getLong("bytes") > 0);
    assertThat(of(events, "Step"))
        .hasSizeGreaterThanOrEqualTo(4)
        .anyMatch(event -> event.getInt("rows") > 1 && event.getInt("decodingRows") == 0)
        .anyMatch(event -> event.getInt("rows") == 1 && event.getInt("decodingRows") == 1);
    assertThat(of(events, "Quantization"))
        .isNotEmpty()
        .anyMatch(event -> event.getBoolean("ofPrompt") && event.getInt("tokens") >= 256);
  }

  private static List<RecordedEvent> of(List<RecordedEvent> events, String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("dev.kvasir." + name))
        .toList();
  }
}

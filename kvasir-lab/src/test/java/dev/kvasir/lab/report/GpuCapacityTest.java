package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuCapacityTest {
  private static final Path DOCUMENTS = Path.of("..", "docs");

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("figures.json"), text);
  }

  @Test
  void pictureMatchesTheMeasurementsOfTheRepository() throws IOException {
    GpuCapacity card = GpuCapacity.of(DOCUMENTS.resolve("results/full-card.json"));
    assertThat(Files.readString(DOCUMENTS.resolve("pictures/full-card.svg")))
        .as(
            "written by ./kvasir bench gpu --json docs/results/full-card.json --draw"
                + " docs/pictures/full-card.svg")
        .isEqualTo(new GpuCapacityPlot(card).svg());
  }

  @Test
  void stepsAreDrawnFewestSequencesFirst() throws IOException {
    GpuCapacity card =
        GpuCapacity.of(
            file(
                """
                {"command": "c", "fill bytes": 1.073741824E11, "1x64:8/2x64 fp16 plain micros": 4.0,
                 "470x8192:8b kivi:2 step micros": 100000.0, "99x8192:8b fp16 step micros": 44000.0}
                """));
    assertThat(card.tokens()).isEqualTo(8192);
    assertThat(card.kinds()).extracting(GpuCapacity.Kind::name).containsExactly("fp16", "kivi:2");
    assertThat(card.kinds().getFirst().tokensPerSecond()).isCloseTo(2250, within(1e-6));
    assertThat(new GpuCapacityPlot(card).svg())
        .contains("Sequences of 8,192 tokens in 100 GiB")
        .contains(">470<", ">4,700<", ">2,250<");
  }

  @Test
  void fileWithoutFillStepsIsRejected() throws IOException {
    Path other = file("{\"command\": \"c\", \"99x8192:8b fp16 step micros\": 44000.0}");
    assertThatThrownBy(() -> GpuCapacity.of(other))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("holds no steps of a full card");
  }
}

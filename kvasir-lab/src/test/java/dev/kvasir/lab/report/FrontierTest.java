package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Proportion;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class FrontierTest {
  private static final Path DOCUMENTS = Path.of("..", "docs");

  @TempDir private Path folder;

  @Test
  void pictureMatchesTheMeasurementsOfTheRepository() throws IOException {
    Frontier frontier = Frontier.of(DOCUMENTS.resolve("results"));
    assertThat(frontier.points()).hasSizeGreaterThanOrEqualTo(29);
    assertThat(frontier.floor()).isPresent();
    assertThat(Files.readString(DOCUMENTS.resolve("pictures/frontier.svg")))
        .as("written by ./kvasir compare --frontier docs/pictures/frontier.svg")
        .isEqualTo(new FrontierPlot(frontier).svg());
  }

  @Test
  void labelsOverlapNeitherEachOtherNorPoints() {
    Frontier frontier = Frontier.of(DOCUMENTS.resolve("results"));
    List<LabelPlacement.Label> labels = new FrontierPlot(frontier).labels();
    assertThat(labels).hasSameSizeAs(frontier.points());
    for (LabelPlacement.Label label : labels) {
      assertThat(labels)
          .filteredOn(other -> other != label)
          .noneMatch(other -> other.box().overlaps(label.box()))
          .noneMatch(other -> other.point().box().overlaps(label.box()));
    }
  }

  @Test
  void everyMethodOfTheTablesHasAFamily() {
    assertThat(StandardTable.ALTERNATIVES)
        .flatExtracting(StandardTable::specs)
        .filteredOn(spec -> !spec.startsWith("fp"))
        .extracting(spec -> FamilyStyle.family(new Frontier.Point(spec, 1, 1).method()))
        .doesNotContain(MethodFamily.OTHER)
        .contains(MethodFamily.TOKEN_TABLES, MethodFamily.ROTATIONS);
  }

  @Test
  void referencesAreNotPoints() {
    measure("mead", row("fp32", 32, 0.001));
    assertThatThrownBy(() -> Frontier.of(folder.resolve("results")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("results: holds no divergence on prose; expected methods.json,");
  }

  @Test
  void curveOmitsDominatedPointsOfItsMethod() throws Exception {
    measure(
        "methods",
        row("kivi:2,sinks=16", 3, 0.02),
        row("kivi,k=2,v=4,group=32,sinks=16", 4, 0.03),
        row("kivi:4,sinks=16", 5, 0.002));
    measure("mead", row("kivi:4,sinks=16", 5, 0.4), row("mead:2,sinks=16", 2, 0.001));
    Frontier frontier = Frontier.of(folder.resolve("results"));
    assertThat(frontier.floor()).isEmpty();
    assertThat(frontier.points())
        .contains(new Frontier.Point("kivi:4,sinks=16", 5, 0.002))
        .extracting(Frontier.Point::name)
        .containsExactly("kivi:2", "kivi,k=2,v=4,group=32", "kivi:4", "mead:2");
    assertThat(Frontier.paretoFront(frontier.points()))
        .extracting(Frontier.Point::name)
        .containsExactly("mead:2");
    Document picture = Pictures.parsed(new FrontierPlot(frontier).svg());
    assertThat(Pictures.all(picture, "polyline"))
        .extracting(line -> line.getAttribute("points").split(" ").length)
        .containsOnlyOnce(2);
    assertThat(Pictures.texts(picture)).contains("mead:2", "tables of tokens", "scales by group");
  }

  @Test
  void logAxisSpacingFollowsRatios() {
    LogAxis axis = new LogAxis(0.001, 0.1, 200, 0);
    assertThat(axis.at(0.001)).isEqualTo(200);
    assertThat(axis.at(0.01)).isCloseTo(100, within(1e-9));
    assertThat(axis.ticks()).extracting(Axis::label).contains("0.002", "0.005", "0.05");
  }

  /** Adds fp16 as the first row, as always. */
  private void measure(String table, Row... others) {
    List<Row> rows = new ArrayList<>(List.of(row("fp16", 16, 0)));
    rows.addAll(List.of(others));
    List<CacheSpec> specs = rows.stream().map(row -> CacheSpec.parse(row.spec())).toList();
    EvaluationSettings settings =
        new EvaluationSettings(specs, EnumSet.of(Task.PROSE), List.of(1000), 1, 1, 1);
    Evaluation evaluation = new Evaluation("small", settings, "a text", "2 processors", true, rows);
    Path file = MeasurementsFile.of(folder.resolve("results.md"), table);
    MeasurementsFile.write(file, evaluation, Examples.PROVENANCE);
  }

  private static Row row(String spec, double bits, double divergence) {
    return new Row(
        spec,
        new Footprint(1000, 0, 10, bits, Double.NaN, new CacheBytes(0, 0, 10, 0, 0)),
        Map.of(
            Task.PROSE,
            new Score.Divergence(
                new Estimate(divergence, divergence, divergence),
                1,
                new Proportion(1, 2),
                List.of(divergence))),
        Map.of());
  }
}

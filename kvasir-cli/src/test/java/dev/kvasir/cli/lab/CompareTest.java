package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.CommandRun;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Proportion;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.report.ResultsFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareTest {
  private static final Pattern NUMBER = Pattern.compile("\\d[\\d.,]*");

  @TempDir private Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void everyNumberOfTheDocumentWasPrinted() throws IOException {
    Path document = folder.resolve("results.md");
    assertThat(publish(true, document)).isZero();
    String printed = out.toString(StandardCharsets.UTF_8);
    String written = Files.readString(document);
    // The legend has the only numbers that are not measured.
    String measured = written.replace("95 of 100", "").replace("fp16", "");
    assertThat(NUMBER.matcher(measured).results().map(MatchResult::group))
        .hasSizeGreaterThan(20)
        .allMatch(printed::contains);
    assertThat(written).contains("| `kivi:2,group=32` | 3.25 |", "Commit `c0ffee`");
  }

  @Test
  void anInterruptionLeavesTheDocumentAsItWas() {
    Path document = folder.resolve("results.md");
    assertThat(publish(false, document)).isEqualTo(Interruption.EXIT_CODE);
    assertThat(document).doesNotExist();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("kivi:2,group=32");
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("results.md is left as it was");
  }

  @Test
  void aDocumentWithoutASectionForResultsIsRefused() throws IOException {
    Path prose = Files.writeString(folder.resolve("prose.md"), "# Prose\n");
    CommandRun.of("compare", "--out", prose.toString())
        .isRefusedWith(
            "prose.md: has no place for results", "<!-- kvasir compare methods: begin -->");
    CommandRun.of("compare", "nothing").isRefusedWith("the table 'nothing' is unknown");
    CommandRun.of("compare", "--part", "5/4").isRefusedWith("--part is '5/4'", "as in 2/4");
    CommandRun.of("compare", "--out", folder.resolve("none/results.md").toString())
        .isRefusedWith("results.md: its folder", "is missing");
  }

  @Test
  void theFrontierIsDrawnFromFiguresNextToTheDocument() {
    Path picture = folder.resolve("frontier.svg");
    String document = Path.of("..", "docs", "results.md").toString();
    CommandRun.of("compare", "--frontier", picture.toString(), "--out", document).succeeds();
    assertThat(picture).content().startsWith("<svg").contains(">commvq:1</text>");
  }

  @Test
  void theFrontierMeasuresNothing() {
    String picture = folder.resolve("frontier.svg").toString();
    CommandRun.of("compare", "mead", "--frontier", picture)
        .isRefusedWith("--frontier draws what was measured", "neither a table nor --quick");
    CommandRun.of("compare", "--quick", "--frontier", picture).isRefusedWith("--frontier draws");
    CommandRun.of("compare", "--frontier", picture, "--on", "local[2]")
        .isRefusedWith("--frontier draws");
    CommandRun.of("compare", "--frontier", picture, "--ship").isRefusedWith("--frontier draws");
    CommandRun.of("compare", "--frontier", picture, "--conf", "spark.task.cpus=2")
        .isRefusedWith("--frontier draws");
    CommandRun.of("compare", "--frontier", picture, "--out", folder.resolve("none.md").toString())
        .isRefusedWith("none: holds no divergence on prose", "methods.json");
  }

  @Test
  void aMeasuredTableIsShown() {
    String document = Path.of("..", "docs", "results.md").toString();
    assertThat(CommandRun.of("compare", "sinks", "--show", "--out", document).succeeds().out())
        .contains("commvq:2,sinks=16", "0.0052*", "measured 20", "by kvasir compare sinks");
    CommandRun.of("compare", "sinks", "--show", "--out", folder.resolve("none.md").toString())
        .isRefusedWith("sinks.json: is missing", "'kvasir compare sinks' measures it");
    CommandRun.of("compare", "--show", "--quick").isRefusedWith("--show prints what was measured");
  }

  private int publish(boolean complete, Path document) {
    Streams streams =
        new Streams(InputStream.nullInputStream(), print(out), print(err), false, false, false);
    Provenance provenance =
        new Provenance(
            "kvasir compare", "0.1", Optional.of("c0ffee"), Instant.parse("2026-01-02T03:04:05Z"));
    return new Compare(streams)
        .publish(evaluation(complete), provenance, ResultsFile.at(document, "methods"));
  }

  private static PrintStream print(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private static Evaluation evaluation(boolean complete) {
    EvaluationSettings settings =
        new EvaluationSettings(
            List.of(CacheSpec.DEFAULT),
            EnumSet.of(Task.PPL, Task.JSONL),
            List.of(1000, 4000),
            20,
            40,
            7);
    return new Evaluation(
        "small",
        settings,
        "a text",
        "2 processors",
        complete,
        List.of(row("fp16", 16), row("kivi:2,group=32", 3.25)));
  }

  private static Row row(String spec, double bits) {
    List<Double> samples = List.of(1.0, 0.0);
    return new Row(
        spec,
        new Footprint(1000, 0, 8 << 20, bits, 123, new CacheBytes(0, 0, 8 << 20, 0, 0)),
        Map.of(
            Task.PPL,
            new Score.Perplexity(new Estimate(20.5, 19, 22), samples),
            Task.JSONL,
            new Score.Answers(new Proportion(13, 17).estimate(), samples)),
        Map.of());
  }
}

package dev.kvasir.lab.reproduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.claim.Paper;
import dev.kvasir.lab.reproduce.PerplexityTable.TextColumn;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PaperTablesTest {
  private static final Request QUICK = request(true, Optional.empty());

  /** Tables with equal rows and questions share answers, which saves most of the time. */
  private static final TableJournal SHARED = TableJournal.none();

  @TempDir static Path folder;
  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static Request request(boolean quick, Optional<Path> data) {
    return new Request(quick, true, data, false, OptionalInt.empty(), OptionalInt.empty(), 1);
  }

  /** Tables that ask the same questions of other caches run with -Dkvasir.thorough=true only. */
  static Stream<PaperTable> runnable() {
    Set<List<?>> asked = new HashSet<>();
    return PaperTables.ALL.stream()
        .filter(PaperTable::isRunnable)
        .filter(table -> Boolean.getBoolean("kvasir.thorough") || asked.add(questions(table)));
  }

  private static List<?> questions(PaperTable table) {
    return table.procedure() instanceof AnswerTable answers
        ? List.of(table.paper(), answers.columns().stream().map(AnswerColumn::label).toList())
        : List.of(table.paper(), table.procedure().getClass());
  }

  /** Commands of other modules are not here; their figures are made up. */
  private static Optional<Map<String, Double>> figures(List<String> arguments) {
    String spec = CacheSpec.parse(arguments.getLast().split(";")[1]).text();
    return Optional.of(Map.of(spec + ", 8192 tokens, 1 threads", 2.5));
  }

  @ParameterizedTest
  @MethodSource("runnable")
  void everyTableRunsInTheSmall(PaperTable table) {
    table.procedure().check(QUICK);
    Conditions conditions =
        new Conditions(model, QUICK, ProgressListener.NONE, SHARED, PaperTablesTest::figures);
    Figures figures = table.procedure().run(conditions).orElseThrow();
    assertThat(figures.lines()).isNotEmpty();
    assertThat(figures.lines())
        .allSatisfy(line -> assertThat(line.cells()).hasSameSizeAs(figures.columns()));
    assertThat(figures.lines().stream().flatMap(line -> line.cells().stream()))
        .as("cells with a figure; notes: %s", figures.notes())
        .anyMatch(cell -> !cell.isEmpty());
    assertThat(new TextTable(table, figures, "").lines())
        .allSatisfy(line -> assertThat(line).doesNotContain("NaN"));
  }

  @Test
  void namesAreUniqueAndFoundInSeveralSpellings() {
    Set<String> names = new HashSet<>();
    PaperTables.ALL.forEach(
        table -> assertThat(names.add(table.paper() + table.id())).as(table.id()).isTrue());
    assertThat(PaperTables.paper("PM-KVQ")).isEqualTo(Paper.PMKVQ);
    assertThat(PaperTables.named(Paper.PATTERNKV, "3").caption()).isEqualTo("Table 3");
    assertThat(PaperTables.named(Paper.PATTERNKV, "Fig3b").caption()).isEqualTo("Figure 3b");
    assertThatThrownBy(() -> PaperTables.paper("kivi"))
        .hasMessage("the paper 'kivi' is unknown; known are patternkv, pmkvq, mixkvq, commvq");
    assertThatThrownBy(() -> PaperTables.named(Paper.PMKVQ, "table9"))
        .hasMessageStartingWith("PM-KVQ has no 'table9'; known are figure1, table1");
  }

  @Test
  void publishedRowsAndColumnsAreThoseOfTheTable() {
    Set<String> labels = new HashSet<>();
    for (PaperTable table : PaperTables.ALL) {
      if (table.published().isPresent() && table.procedure() instanceof AnswerTable answers) {
        Published published = table.published().get();
        assertThat(answers.columns().stream().map(AnswerColumn::label))
            .as(table.id())
            .containsAll(published.columns());
        labels.clear();
        answers.rows().forEach(row -> labels.add(row.label()));
        published
            .models()
            .forEach(
                part ->
                    assertThat(part.lines())
                        .as("%s of %s", part.model(), table.id())
                        .allMatch(line -> labels.contains(line.label())));
      }
    }
  }

  @Test
  void specsOfAllRowsAreValid() {
    for (PaperTable table : PaperTables.ALL) {
      if (table.procedure() instanceof AnswerTable answers) {
        answers.rows().stream()
            .filter(TableRow::hasCache)
            .forEach(row -> assertThat(CacheSpec.parse(row.spec())).isNotNull());
      }
    }
  }

  @Test
  void missingDataAreNamedBeforeWork() {
    PaperTable longBench = PaperTables.named(Paper.PATTERNKV, "table1");
    assertThatThrownBy(() -> longBench.procedure().check(request(false, Optional.empty())))
        .hasMessageStartingWith("HotpotQA does not come with Kvasir; get LongBench")
        .hasMessageEndingWith("with --data FOLDER");
    assertThatThrownBy(() -> longBench.procedure().check(request(false, Optional.of(folder))))
        .hasMessageContaining("has no hotpotqa.jsonl; get LongBench");
    PaperTable texts = PaperTables.named(Paper.MIXKVQ, "table2");
    assertThatThrownBy(() -> texts.procedure().check(request(false, Optional.empty())))
        .hasMessageContaining("wikitext2.txt");
    PaperTable drawing = PaperTables.named(Paper.COMMVQ, "figure1");
    assertThatThrownBy(() -> drawing.procedure().check(QUICK))
        .hasMessage("there is nothing to run: it draws the method");
    assertThat(longBench.command())
        .isEqualTo("kvasir reproduce patternkv table1 --model FILE --data FOLDER");
    assertThat(PaperTables.named(Paper.PMKVQ, "table1").command()).endsWith("--run-code");
  }

  @Test
  void aCancelledTableContinuesFromItsJournal() throws IOException {
    for (String name : List.of("one", "two")) {
      Files.writeString(folder.resolve(name + ".txt"), Novel.start(300));
    }
    PerplexityTable table =
        new PerplexityTable(
            List.of(new TableRow("FP16", "fp16")),
            List.of(new TextColumn("one", "one.txt"), new TextColumn("two", "two.txt")),
            256);
    Path result = folder.resolve("result.json");
    TableJournal first = TableJournal.nextTo(result);
    first.begin("conditions");
    ProgressListener cancelling =
        new ProgressListener() {
          private double done;

          @Override
          public void progress(double now, double total) {
            done = now;
          }

          @Override
          public boolean isCancelled() {
            return done > 1;
          }
        };
    assertThat(table.run(conditions(first, cancelling))).isEmpty();
    TableJournal again = TableJournal.nextTo(result);
    again.begin("conditions");
    assertThat(again.part("fp16 one")).isPresent();
    assertThat(again.part("fp16 two")).isEmpty();
    assertThat(table.run(conditions(again, ProgressListener.NONE))).isPresent();
    again.begin("others");
    assertThat(again.part("fp16 one")).isEmpty();
    again.delete();
  }

  private static Conditions conditions(TableJournal journal, ProgressListener listener) {
    return new Conditions(
        model, request(true, Optional.of(folder)), listener, journal, CommandRunner.NONE);
  }
}

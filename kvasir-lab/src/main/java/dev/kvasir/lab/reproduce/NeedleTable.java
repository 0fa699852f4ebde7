package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Reading;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/** Needles in a haystack: each row is a cache, each column a context length. */
record NeedleTable(List<TableRow> rows, List<Integer> contexts) implements Procedure {
  private static final int SAMPLES = 20;

  @Override
  public List<String> needs() {
    return List.of();
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    List<Integer> lengths = lengths(conditions);
    List<String> notes = new ArrayList<>();
    List<TableRow> possible = new ArrayList<>();
    for (TableRow row : rows) {
      row.obstacle(conditions.model()).ifPresentOrElse(notes::add, () -> possible.add(row));
    }
    Evaluation evaluation = evaluate(conditions, lengths, possible);
    if (!evaluation.complete()) {
      return Optional.empty();
    }
    List<Line> lines = new ArrayList<>();
    for (TableRow row : rows) {
      List<Cell> cells =
          lengths.stream()
              .map(
                  length ->
                      possible.contains(row)
                          ? share(
                              evaluation, conditions.model().resolve(row.cache()).text(), length)
                          : Cell.NONE)
              .toList();
      lines.add(new Line(row.label(), row.spec(), cells));
    }
    return Optional.of(
        new Figures(lengths.stream().map(length -> length + " tokens").toList(), lines, notes));
  }

  private List<Integer> lengths(Conditions conditions) {
    int most = conditions.model().config().contextLength();
    if (conditions.request().quick()) {
      return List.of(Math.min(512, most));
    }
    List<Integer> fitting = contexts.stream().filter(length -> length <= most).toList();
    return fitting.isEmpty() ? List.of(most) : fitting;
  }

  private static Evaluation evaluate(
      Conditions conditions, List<Integer> lengths, List<TableRow> possible) {
    EvaluationSettings settings =
        new EvaluationSettings(
                possible.stream().map(TableRow::cache).toList(),
                EnumSet.of(Task.NEEDLE),
                lengths,
                conditions.request().samples(SAMPLES, 1),
                1,
                conditions.request().seed())
            .withReading(Reading.exact(lengths.getLast()))
            .untimed();
    Sources sources = Sources.bundled(conditions.request().bundledModel());
    return new CacheEvaluator(conditions.model(), settings, sources).run(conditions.listener());
  }

  private static Cell share(Evaluation evaluation, String spec, int length) {
    return evaluation.rows().stream()
        .filter(row -> row.spec().equals(spec))
        .map(row -> (Score.Retrieval) row.scores().get(Task.NEEDLE))
        .map(score -> share(score.grid(), length))
        .findFirst()
        .orElse(Cell.NONE);
  }

  private static Cell share(List<GridCell> grid, int length) {
    int right = 0;
    int tries = 0;
    for (GridCell cell : grid) {
      if (cell.context() == length) {
        right += cell.share().right();
        tries += cell.share().tries();
      }
    }
    return tries == 0 ? Cell.NONE : Cell.of(100.0 * right / tries);
  }
}

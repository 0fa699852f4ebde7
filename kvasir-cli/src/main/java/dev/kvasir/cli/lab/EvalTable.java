package dev.kvasir.cli.lab;

import dev.kvasir.lab.eval.AnswerSampling;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.Column;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** An evaluation as a text table: two lines for each row, figures and their intervals. */
final class EvalTable {
  private static final int WIDTH = 100;
  private static final int LONGEST_SPEC = 28;

  /** Width reserved for marks, so that figures stay aligned. */
  private static final int MARKS = 2;

  private final Evaluation evaluation;
  private final int specWidth;

  EvalTable(Evaluation evaluation) {
    this.evaluation = evaluation;
    this.specWidth = 1 + longestSpec(evaluation);
  }

  private static int longestSpec(Evaluation evaluation) {
    return evaluation.rows().stream()
        .mapToInt(row -> Math.min(LONGEST_SPEC, row.spec().length()))
        .reduce("cache".length(), Math::max);
  }

  void print(PrintStream out) {
    List<Column> left = Column.of(evaluation);
    while (!left.isEmpty()) {
      List<Column> fitting = fitting(left);
      printTable(out, fitting);
      left = left.subList(fitting.size(), left.size());
    }
    for (Task task : List.of(Task.NEEDLE, Task.RECORDS)) {
      if (evaluation.settings().tasks().contains(task)) {
        printGrid(out, task);
      }
    }
    printLegend(out);
  }

  /** Returns as many columns as fit in a line, at least one. */
  private List<Column> fitting(List<Column> columns) {
    int count = 0;
    int width = specWidth;
    while (count < columns.size() && (width += 2 + columns.get(count).width()) <= WIDTH) {
      count++;
    }
    return columns.subList(0, Math.max(1, count));
  }

  private void printTable(PrintStream out, List<Column> columns) {
    printLine(
        out, "cache", columns.stream().map(column -> column.title() + "  ").toList(), columns);
    for (Row row : evaluation.rows()) {
      List<String> figures =
          columns.stream()
              .map(column -> column.valueText(row) + padded(column.marks(row), MARKS))
              .toList();
      List<String> intervals = columns.stream().map(column -> column.interval(row) + "  ").toList();
      boolean own = row.spec().length() >= specWidth;
      if (own) {
        out.println(row.spec());
      }
      printLine(out, own ? "" : row.spec(), figures, columns);
      if (!intervals.stream().allMatch(String::isBlank)) {
        printLine(out, "", intervals, columns);
      }
    }
    out.println();
  }

  private void printLine(PrintStream out, String first, List<String> cells, List<Column> columns) {
    StringBuilder line = new StringBuilder(padded(first, specWidth));
    for (int i = 0; i < cells.size(); i++) {
      int gap = columns.get(i).width() + 2 - cells.get(i).length();
      line.append(" ".repeat(Math.max(0, gap))).append(cells.get(i));
    }
    out.println(line.toString().stripTrailing());
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  /** Prints a line for each row and context, with a column for each fifth of the context. */
  private void printGrid(PrintStream out, Task task) {
    String title = task.label() + " by depth";
    int width = Math.max(title.length(), specWidth + 8);
    out.println(padded(title, width) + "    0-20%   20-40%   40-60%   60-80%  80-100%");
    for (Row row : evaluation.rows()) {
      if (row.scores().get(task) instanceof Score.Retrieval retrieval) {
        byContext(retrieval)
            .forEach(
                (context, cells) -> {
                  String label = padded(shortened(row.spec()), specWidth);
                  out.println(
                      padded(label + "%8d".formatted(context), width)
                          + cells.stream().map(EvalTable::text).collect(Collectors.joining()));
                });
      }
    }
    out.println();
  }

  private static Map<Integer, List<GridCell>> byContext(Score.Retrieval retrieval) {
    return retrieval.grid().stream()
        .collect(Collectors.groupingBy(GridCell::context, TreeMap::new, Collectors.toList()));
  }

  /** Returns correct answers and attempts. */
  private static String text(GridCell cell) {
    int tries = cell.share().tries();
    return "%9s".formatted(tries == 0 ? "-" : cell.share().right() + "/" + tries);
  }

  private static String shortened(String spec) {
    return spec.length() <= LONGEST_SPEC ? spec : spec.substring(0, LONGEST_SPEC - 1) + "…";
  }

  private void printLegend(PrintStream out) {
    List<String> facts = new ArrayList<>();
    facts.add(evaluation.model());
    facts.add("contexts " + evaluation.settings().contexts());
    facts.add("%d samples".formatted(evaluation.settings().samples()));
    facts.add("seed %d".formatted(evaluation.settings().seed()));
    AnswerSampling sampling = evaluation.settings().sampling();
    if (!sampling.isGreedy()) {
      facts.add(
          "%d answers at temperature %s, top-p %s"
              .formatted(sampling.answers(), sampling.temperature(), sampling.topP()));
    }
    if (evaluation.settings().budgetContext() > 0) {
      facts.add("budgets of %d tokens".formatted(evaluation.settings().budgetContext()));
    }
    out.println(String.join(", ", facts));
    out.println(
        "↓ worse or ↑ better than fp16, * worse than the best row but fp16: beyond sampling error");
    if (!evaluation.complete()) {
      out.println("interrupted; what is missing was not finished");
    }
  }
}

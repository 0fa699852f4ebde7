package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.Score.Retrieval;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.ReportSection.Panel;
import java.util.ArrayList;
import java.util.List;

/** Right answers of each row by context length and depth. */
final class AnswerGrids {
  private static final int WIDTH = 320;
  private static final int ROW_HEIGHT = 26;
  private static final int GAP = 2;
  private static final ColourRamp FOUND = new ColourRamp("found");
  private static final ColourRamp INK = new ColourRamp("found-ink");

  private AnswerGrids() {}

  static ReportSection needles(Evaluation evaluation) {
    return section(
        evaluation,
        Task.NEEDLE,
        "Secret numbers in prose",
        "Right answers of those asked for, by the length of the text and by where in it the number"
            + " stood. Nothing was asked about where a field is empty.");
  }

  static ReportSection records(Evaluation evaluation) {
    return section(
        evaluation,
        Task.RECORDS,
        "Look-ups in a table",
        "Right answers of those asked for, by the length of the table and by where in it the line"
            + " stood. Nothing was asked about where a field is empty.");
  }

  private static ReportSection section(
      Evaluation evaluation, Task task, String title, String about) {
    List<Panel> panels = new ArrayList<>();
    for (Row row : evaluation.rows()) {
      if (row.scores().get(task) instanceof Retrieval score) {
        double right = score.estimate().value();
        panels.add(
            new Panel(
                row.spec(),
                Double.isNaN(right) ? "" : ChartText.percent(right) + " right",
                picture(row.spec(), score.grid())));
      }
    }
    return new ReportSection(
        task.label(),
        title,
        about,
        new ChartLegend().ramp("none right", "all right", FOUND.stops()),
        true,
        panels);
  }

  private static SvgPicture picture(String spec, List<GridCell> grid) {
    List<Integer> contexts = grid.stream().map(GridCell::context).distinct().sorted().toList();
    List<Integer> depths = grid.stream().map(GridCell::depth).distinct().sorted().toList();
    List<HeatMap.Cell> cells =
        grid.stream()
            .filter(cell -> cell.share().tries() > 0)
            .map(cell -> cell(cell, contexts.indexOf(cell.context()), depths.indexOf(cell.depth())))
            .toList();
    return new HeatMap(
            spec,
            WIDTH,
            ROW_HEIGHT,
            GAP,
            contexts.stream().map(ChartText::count).toList(),
            depths.stream().map(AnswerGrids::fifth).toList())
        .picture("tokens", cells);
  }

  private static HeatMap.Cell cell(GridCell cell, int column, int row) {
    double share = cell.share().value();
    int right = cell.share().right();
    int tries = cell.share().tries();
    return new HeatMap.Cell(
        column,
        row,
        FOUND.at(share),
        "%d/%d".formatted(right, tries),
        INK.nearest(share),
        "%d of %d right%n%s tokens, depth %s"
            .formatted(right, tries, ChartText.count(cell.context()), fifth(cell.depth())));
  }

  private static String fifth(int depth) {
    return "%d–%d %%".formatted(20 * depth, 20 * depth + 20);
  }
}

package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import java.util.List;
import java.util.stream.Collectors;

/** The table of a report, with the same columns, values and marks as in the terminal. */
final class ScoreTable {
  private ScoreTable() {}

  static String html(Evaluation evaluation) {
    List<Column> columns = Column.of(evaluation);
    return """
        <div class="scroll"><table>
        <thead><tr><th scope="col">cache</th>%s</tr></thead>
        <tbody>
        %s
        </tbody>
        </table></div>"""
        .formatted(
            columns.stream()
                .map(column -> "<th scope=\"col\">%s</th>".formatted(Html.text(column.title())))
                .collect(Collectors.joining()),
            evaluation.rows().stream()
                .map(row -> line(row, columns))
                .collect(Collectors.joining("\n")));
  }

  private static String line(Row row, List<Column> columns) {
    return "<tr><th scope=\"row\">%s</th>%s</tr>"
        .formatted(
            // A long spec may break after a comma.
            Html.text(row.spec()).replace(",", ",<wbr>"),
            columns.stream().map(column -> cell(row, column)).collect(Collectors.joining()));
  }

  /** The label is visible where the page is too narrow for a header row. */
  private static String cell(Row row, Column column) {
    return "<td data-label=\"%s\"><span>%s<span class=\"marks\">%s</span></span><small>%s</small></td>"
        .formatted(
            Html.text(column.title()),
            Html.text(column.valueText(row)),
            column.marks(row),
            Html.text(column.interval(row)));
  }
}

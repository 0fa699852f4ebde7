package dev.kvasir.lab.report;

import com.google.gson.Gson;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.inspect.KeyRanges;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A self-contained HTML page of an evaluation: charts, the table and run details as markup, and all
 * values as JSON. It has no scripts.
 */
public final class Report {
  private final Evaluation evaluation;
  private final Optional<KeyRanges> keyRanges;
  private final Provenance provenance;

  public Report(Evaluation evaluation, Optional<KeyRanges> keyRanges, Provenance provenance) {
    this.evaluation = evaluation;
    this.keyRanges = keyRanges;
    this.provenance = provenance;
  }

  public void write(Path file) {
    AtomicFile.write(file, html());
  }

  String html() {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("title", Html.text(evaluation.model() + ": a Kvasir evaluation"));
    parts.put("style", PageTemplate.resource("report.css"));
    parts.put("model", Html.text(evaluation.model()));
    parts.put("summary", Html.text(summary()));
    parts.put("warning", warning());
    parts.put("charts", charts());
    parts.put("table", ScoreTable.html(evaluation));
    parts.put("facts", facts());
    parts.put("data", Html.json(data()));
    return PageTemplate.fill(PageTemplate.resource("report.html"), parts);
  }

  private String charts() {
    return Stream.of(
            QualityChart.section(evaluation),
            DivergenceChart.section(evaluation),
            AnswerGrids.needles(evaluation),
            AnswerGrids.records(evaluation),
            BytesChart.section(evaluation),
            KeyRangeMaps.section(keyRanges))
        .map(ReportSection::html)
        .collect(Collectors.joining());
  }

  private String summary() {
    List<Row> rows = evaluation.rows();
    double least =
        rows.stream().mapToDouble(row -> row.footprint().bitsPerValue()).min().orElse(Double.NaN);
    return rows.size() == 1
        ? "What a cache of half precision answers."
        : String.format(
            Locale.ROOT,
            "What %d kinds of KV cache, down to %.1f bits per value, do to the model’s answers.",
            rows.size(),
            least);
  }

  private String warning() {
    return evaluation.complete()
        ? ""
        : "<p class=\"warning\">The evaluation was interrupted; what is missing was not"
            + " finished.</p>";
  }

  private String facts() {
    return RunDetails.of(evaluation, provenance).entrySet().stream()
        .map(
            fact ->
                "<dt>%s</dt><dd>%s</dd>"
                    .formatted(Html.text(fact.getKey()), Html.text(fact.getValue())))
        .collect(
            Collectors.joining(
                "\n",
                "<dl>\n",
                "\n<dt>Command</dt><dd><code>%s</code></dd>\n</dl>"
                    .formatted(Html.text(provenance.command()))));
  }

  private String data() {
    return "{\"evaluation\":%s,\"keyRanges\":%s}"
        .formatted(EvaluationJson.of(evaluation), keyRanges.map(new Gson()::toJson).orElse("null"));
  }

  /** A page template with placeholders, written as {@code {{name}}}. */
  static final class PageTemplate {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{(\\w+)}}");

    private PageTemplate() {}

    /** Fills all placeholders in one pass; placeholders inside inserted text are left alone. */
    static String fill(String template, Map<String, String> parts) {
      return PLACEHOLDER
          .matcher(template)
          .replaceAll(gap -> Matcher.quoteReplacement(parts.get(gap.group(1))));
    }

    /** Returns a resource next to this class, with the same line ends on every machine. */
    static String resource(String name) {
      try (InputStream stream = PageTemplate.class.getResourceAsStream(name)) {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The table of a report, with the same columns, values and marks as in the terminal. */
  private static final class ScoreTable {
    static String html(Evaluation evaluation) {
      List<Column> columns = Column.of(evaluation);
      return """
      <div class="scroll"><table>
      <thead><tr><th scope="col">cache</th>%s</tr></thead>
      <tbody>
      %s
      </tbody>
      </table></div>\
      """
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
}

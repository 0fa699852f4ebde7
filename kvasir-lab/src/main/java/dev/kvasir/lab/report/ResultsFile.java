package dev.kvasir.lab.report;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A document with evaluation tables between pairs of marks. Text outside the marks is preserved;
 * text between them is generated. A table fits the width of a page: intervals and details are in
 * the measurements file. The document may list tables of which it shows none: {@code <!-- kvasir
 * compare: figures of sinks, drift -->}.
 *
 * @param table name of the table
 * @param before text up to and including the first mark
 * @param after text from the second mark on; empty if the document does not show the table
 */
public record ResultsFile(Path file, String table, String before, Optional<String> after) {
  private static final String MARK = "<!-- kvasir compare %s: %s -->";
  private static final Pattern FIGURES =
      Pattern.compile("<!-- kvasir compare: figures of ([a-z, -]+?) -->");

  private static final String LEGEND =
      """
      ↓ worse or ↑ better than fp16, \\* worse than the best other row, beyond sampling error.""";

  /**
   * Opens the document at a table. Rejects a document without its marks or without write access.
   *
   * @param table name of the table
   */
  public static ResultsFile at(Path file, String table) {
    AtomicFile.checkWritable(file);
    String begin = begin(table);
    String end = end(table);
    if (!Files.exists(file)) {
      return new ResultsFile(file, table, "# Results\n\n" + begin, Optional.of(end + "\n"));
    }
    String text = read(file);
    int from = text.indexOf(begin);
    int to = text.indexOf(end);
    if (from < 0 && hasFiguresOnly(text, table)) {
      return new ResultsFile(file, table, text, Optional.empty());
    }
    if (from < 0 || to < from) {
      throw new InvalidInputException(
          "%s: has no place for results; expected the lines %s and %s".formatted(file, begin, end));
    }
    return new ResultsFile(
        file, table, text.substring(0, from + begin.length()), Optional.of(text.substring(to)));
  }

  private static boolean hasFiguresOnly(String text, String table) {
    return FIGURES
        .matcher(text)
        .results()
        .flatMap(match -> Arrays.stream(match.group(1).split(", ")))
        .anyMatch(table::equals);
  }

  static String begin(String table) {
    return MARK.formatted(table, "begin");
  }

  static String end(String table) {
    return MARK.formatted(table, "end");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(file), e);
    }
  }

  public void write(Evaluation evaluation, Provenance provenance) {
    MeasurementsFile.write(MeasurementsFile.of(file, table), evaluation, provenance);
    after.ifPresent(
        rest ->
            AtomicFile.write(
                file, before + "\n\n" + markdown(evaluation, provenance) + "\n" + rest));
  }

  /** Returns how the evaluation was measured, by name. */
  public static Map<String, String> facts(Evaluation evaluation, Provenance provenance) {
    Map<String, String> facts = RunDetails.of(evaluation, provenance);
    facts.put("Command", provenance.command());
    return facts;
  }

  private static String markdown(Evaluation evaluation, Provenance provenance) {
    List<Column> columns =
        Column.of(evaluation).stream().filter(column -> !column.detail()).toList();
    String head =
        columns.stream().map(Column::title).collect(Collectors.joining(" | ", "| cache | ", " |"));
    String rule = "|---|" + "---:|".repeat(columns.size());
    String rows =
        evaluation.rows().stream().map(row -> line(row, columns)).collect(Collectors.joining("\n"));
    String facts =
        facts(evaluation, provenance).entrySet().stream()
            .map(fact -> "%s `%s`".formatted(fact.getKey(), fact.getValue()))
            .collect(Collectors.joining("; ", "", "."));
    return String.join("\n", head, rule, rows, "", LEGEND, "", facts, "");
  }

  private static String line(Row row, List<Column> columns) {
    return columns.stream()
        .map(column -> cell(row, column))
        .collect(Collectors.joining(" | ", "| `%s` | ".formatted(row.spec()), " |"));
  }

  private static String cell(Row row, Column column) {
    // An unescaped star would start emphasis.
    return column.valueText(row) + column.marks(row).replace("*", "\\*");
  }
}

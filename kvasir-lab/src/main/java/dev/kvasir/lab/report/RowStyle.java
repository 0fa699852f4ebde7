package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How charts show a row. Methods differ by shape too, not by color alone.
 *
 * @param colour of the page's style sheet
 * @param shape a path of ten by ten
 * @param dash of a line, as an SVG attribute; empty for a solid one
 */
record RowStyle(String colour, String shape, String dash) {
  private static final int COLOURS = 8;

  private static final List<String> SHAPES =
      List.of(
          "M5 0A5 5 0 1 1 5 10A5 5 0 1 1 5 0Z",
          "M.5 .5H9.5V9.5H.5Z",
          "M5 0L10 9.5H0Z",
          "M5 -1L11 5L5 11L-1 5Z",
          "M0 .5H10L5 10Z",
          "M3.3 0H6.7V3.3H10V6.7H6.7V10H3.3V6.7H0V3.3H3.3Z",
          "M5 0L9.8 3.5L8 9.5H2L.2 3.5Z",
          "M2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5L0 2Z");

  private static final List<String> DASHES = List.of("", "7 3", "2 3", "9 3 2 3");

  static final String REFERENCE_DASH = "4 3";

  /** The style of fp16. */
  static final RowStyle REFERENCE = new RowStyle("var(--reference)", SHAPES.getFirst(), "");

  /** Returns a spec without its widths; rows of one method form one curve. */
  static String method(Row row) {
    String[] parts = row.spec().split(",");
    parts[0] = parts[0].split(":", 2)[0];
    return Arrays.stream(parts)
        .filter(part -> !part.startsWith("k=") && !part.startsWith("v="))
        .collect(Collectors.joining(", "));
  }

  /** Returns the methods of all rows but the reference. */
  static List<String> methods(List<Row> rows) {
    LinkedHashSet<String> methods = new LinkedHashSet<>();
    rows.stream().skip(1).map(RowStyle::method).forEach(methods::add);
    return new ArrayList<>(methods);
  }

  /** Returns the color of a method. */
  static String colour(String method, List<Row> rows) {
    return "var(--series-%d)".formatted(methods(rows).indexOf(method) % COLOURS);
  }

  /**
   * @param rows all rows, the reference first
   */
  static RowStyle of(Row row, List<Row> rows) {
    if (row == rows.getFirst()) {
      return REFERENCE;
    }
    int method = methods(rows).indexOf(method(row));
    List<Row> sisters =
        rows.stream().skip(1).filter(other -> method(other).equals(method(row))).toList();
    return new RowStyle(
        colour(method(row), rows),
        SHAPES.get(method % SHAPES.size()),
        DASHES.get((sisters.indexOf(row) + method / COLOURS) % DASHES.size()));
  }
}

package dev.kvasir.lab.report;

import java.util.List;

/** The legend of a section's charts, as markup that is laid out with the page. */
final class ChartLegend {
  private final StringBuilder entries = new StringBuilder();

  /**
   * @param mark drawn on the line; empty for none
   */
  ChartLegend line(String words, RowStyle style, String dash, String mark) {
    return entry(
        words,
        "<path d=\"M1 6H27\" stroke=\"%s\" stroke-width=\"2\"%s/>%s"
            .formatted(
                style.colour(),
                dash.isEmpty() ? "" : " stroke-dasharray=\"%s\"".formatted(dash),
                mark));
  }

  /** Returns the mark of a row, for {@link #line}. */
  static String mark(RowStyle style) {
    return "<path transform=\"translate(9.5 1.5) scale(.9)\" d=\"%s\" fill=\"%s\"/>"
        .formatted(style.shape(), style.colour());
  }

  ChartLegend box(String words, String colour) {
    return entry(
        words,
        "<rect x=\"8\" y=\"0\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>"
            .formatted(colour));
  }

  private ChartLegend entry(String words, String drawing) {
    entries.append(
        "<span><svg width=\"28\" height=\"12\" aria-hidden=\"true\">%s</svg>%s</span>"
            .formatted(drawing, Html.text(words)));
    return this;
  }

  ChartLegend ramp(String from, String to, List<String> colours) {
    entries.append(
        ("<span class=\"scale\">%s<span class=\"ramp\""
                + " style=\"background: linear-gradient(to right, %s)\"></span>%s</span>")
            .formatted(Html.text(from), String.join(", ", colours), Html.text(to)));
    return this;
  }

  String html() {
    return entries.toString();
  }
}

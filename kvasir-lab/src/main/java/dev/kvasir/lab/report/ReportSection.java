package dev.kvasir.lab.report;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A section of a report: charts below a legend.
 *
 * @param id of the element
 * @param about what the charts show, as text
 * @param legend markup
 * @param isDense whether its panels are small
 */
record ReportSection(
    String id,
    String title,
    String about,
    ChartLegend legend,
    boolean isDense,
    List<Panel> panels) {
  /**
   * A framed chart below its caption.
   *
   * @param hint smaller text of the caption; empty for none
   */
  record Panel(String title, String hint, SvgPicture chart) {
    /** A chart may grow with its panel until its text is as large as the page's. */
    private static final int MAX_SCALE_PERCENT = 133;

    private String html() {
      return """
          <figure class="panel"><figcaption>%s%s</figcaption>
          <div class="chart" style="max-width: %dpx">
          %s</div></figure>
          """
          .formatted(
              Html.text(title),
              hint.isEmpty() ? "" : "<small>%s</small>".formatted(Html.text(hint)),
              chart.width() * MAX_SCALE_PERCENT / 100,
              chart.svg());
    }
  }

  /** Returns markup; empty if there is nothing to show. */
  String html() {
    return panels.isEmpty()
        ? ""
        : """
          <section id="%s">
          <h2>%s</h2>
          <p>%s</p>
          <div class="legend">%s</div>
          <div class="panels%s">
          %s</div>
          </section>
          """
            .formatted(
                id,
                Html.text(title),
                Html.text(about),
                legend.html(),
                isDense ? " grids" : "",
                panels.stream().map(Panel::html).collect(Collectors.joining()));
  }
}

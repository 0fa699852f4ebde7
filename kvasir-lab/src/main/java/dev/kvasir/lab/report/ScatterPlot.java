package dev.kvasir.lab.report;

import dev.kvasir.format.WholeFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Points of two figures as one picture that needs no script: for documents, where a page of charts
 * is too much. It is readable on light and on dark ground.
 */
public final class ScatterPlot {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 420;
  private static final int LEFT = 64;
  private static final int TOP = 40;
  private static final int RIGHT = 24;
  private static final int BOTTOM = 56;
  private static final int TICKS = 5;

  /** A colour for each series, of about equal lightness. */
  private static final List<String> COLOURS =
      List.of(
          "#4477aa", "#cc6677", "#999933", "#44aa99", "#aa4499", "#dd8833", "#667788", "#228833");

  private record Series(String name, boolean joined, List<double[]> points) {}

  private final String title;
  private final String xName;
  private final String yName;
  private final List<Series> series = new ArrayList<>();

  public ScatterPlot(String title, String xName, String yName) {
    this.title = title;
    this.xName = xName;
    this.yName = yName;
  }

  /** Adds points: x and y of each. */
  public ScatterPlot points(String name, List<double[]> points) {
    series.add(new Series(name, false, List.copyOf(points)));
    return this;
  }

  /** Adds points that a line runs through. */
  public ScatterPlot line(String name, List<double[]> points) {
    series.add(new Series(name, true, List.copyOf(points)));
    return this;
  }

  public void write(Path file) {
    WholeFile.write(file, svg());
  }

  String svg() {
    double mostX = most(0);
    double mostY = most(1);
    StringBuilder svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
            + " font-size=\"12\" fill=\"#808080\">",
        WIDTH,
        HEIGHT);
    add(svg, "<title>%s</title>", Html.text(title));
    add(svg, "<text x=\"%d\" y=\"22\" font-size=\"15\">%s</text>", LEFT, Html.text(title));
    axes(svg, mostX, mostY);
    for (int i = 0; i < series.size(); i++) {
      draw(svg, series.get(i), COLOURS.get(i % COLOURS.size()), mostX, mostY);
      legend(svg, series.get(i), COLOURS.get(i % COLOURS.size()), i);
    }
    add(svg, "</svg>");
    return svg.toString();
  }

  private static void add(StringBuilder svg, String line, Object... values) {
    svg.append(String.format(Locale.ROOT, line, values)).append('\n');
  }

  private double most(int axis) {
    double most =
        series.stream()
            .flatMap(one -> one.points().stream())
            .mapToDouble(point -> point[axis])
            .filter(Double::isFinite)
            .max()
            .orElse(1);
    return most > 0 ? 1.05 * most : 1;
  }

  private static double x(double value, double most) {
    return LEFT + value / most * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double value, double most) {
    return HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM);
  }

  private void axes(StringBuilder svg, double mostX, double mostY) {
    double stepX = step(mostX);
    double stepY = step(mostY);
    for (double value = 0; value <= mostX; value += stepX) {
      double at = x(value, mostX);
      grid(svg, at, TOP, at, HEIGHT - BOTTOM);
      add(
          svg,
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
          at,
          HEIGHT - BOTTOM + 18,
          number(value));
    }
    for (double value = 0; value <= mostY; value += stepY) {
      double at = y(value, mostY);
      grid(svg, LEFT, at, WIDTH - RIGHT, at);
      add(
          svg,
          "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
          LEFT - 8,
          at + 4,
          number(value));
    }
    add(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>",
        (LEFT + WIDTH - RIGHT) / 2,
        HEIGHT - 14,
        Html.text(xName));
    add(
        svg,
        "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>",
        (TOP + HEIGHT - BOTTOM) / 2,
        Html.text(yName));
  }

  private static void grid(StringBuilder svg, double x1, double y1, double x2, double y2) {
    add(
        svg,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#808080\""
            + " stroke-opacity=\"0.25\"/>",
        x1,
        y1,
        x2,
        y2);
  }

  /** A round number of which about {@link #TICKS} make up the axis. */
  private static double step(double most) {
    double rough = most / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.4f", value).replaceAll("\\.?0+$", "");
  }

  private static void draw(
      StringBuilder svg, Series one, String colour, double mostX, double mostY) {
    if (one.joined()) {
      StringBuilder path = new StringBuilder();
      for (double[] point : one.points()) {
        path.append(
            String.format(Locale.ROOT, "%.1f,%.1f ", x(point[0], mostX), y(point[1], mostY)));
      }
      add(
          svg,
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>",
          path.toString().strip(),
          colour);
    }
    for (double[] point : one.points()) {
      add(
          svg,
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\" fill-opacity=\"0.75\"/>",
          x(point[0], mostX),
          y(point[1], mostY),
          one.joined() ? "4" : "2.5",
          colour);
    }
  }

  private static void legend(StringBuilder svg, Series one, String colour, int index) {
    int at = TOP + 14 + 16 * index;
    add(
        svg,
        "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>",
        WIDTH - RIGHT - 8,
        at - 4,
        colour);
    add(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
        WIDTH - RIGHT - 18,
        at,
        Html.text(one.name()));
  }
}

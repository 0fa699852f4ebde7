package dev.kvasir.lab.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Builds an SVG picture. Its grey is readable on light and dark backgrounds; colors passed in
 * should be too.
 */
final class SvgPicture {
  static final String GREY = "#808080";

  private final StringBuilder lines = new StringBuilder();
  private final int width;

  SvgPicture(String title, int width, int height) {
    this.width = width;
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
            + " font-size=\"12\" fill=\"%s\">",
        width, height, GREY);
    add("<title>%s</title>", Html.text(title));
  }

  /** Returns its width in pixels at the size of its text. */
  int width() {
    return width;
  }

  private void add(String line, Object... values) {
    lines.append(String.format(Locale.ROOT, line, values)).append('\n');
  }

  SvgPicture title(double x, String words) {
    add("<text x=\"%.1f\" y=\"22\" font-size=\"15\">%s</text>", x, Html.text(words));
    return this;
  }

  /**
   * @param anchor start, middle or end
   */
  SvgPicture text(double x, double y, String anchor, String words) {
    add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, Html.text(words));
    return this;
  }

  /** Adds smaller colored text for the name of a point. */
  SvgPicture label(double x, double y, String anchor, String words, String colour) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"11\" fill=\"%s\">%s</text>",
        x, y, anchor, colour, Html.text(words));
    return this;
  }

  /** Adds text that reads upwards. */
  SvgPicture uprightText(double x, double y, String words) {
    add(
        "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>",
        x, y, Html.text(words));
    return this;
  }

  /** Adds a faint grid line. */
  SvgPicture grid(double x1, double y1, double x2, double y2) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            + " stroke-opacity=\"0.25\"/>",
        x1, y1, x2, y2, GREY);
    return this;
  }

  SvgPicture dashes(double x1, double y1, double x2, double y2, String colour) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            + " stroke-dasharray=\"6 4\"/>",
        x1, y1, x2, y2, colour);
    return this;
  }

  /**
   * @param points x and y of each point
   */
  SvgPicture polyline(List<double[]> points, String colour) {
    return polyline(points, colour, 1.5, 1);
  }

  SvgPicture polyline(List<double[]> points, String colour, double thickness, double opacity) {
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s/>",
        coordinates(points),
        colour,
        Axis.label(thickness),
        opacity == 1 ? "" : " stroke-opacity=\"%s\"".formatted(Axis.label(opacity)));
    return this;
  }

  private static String coordinates(List<double[]> points) {
    return points.stream()
        .map(point -> String.format(Locale.ROOT, "%.1f,%.1f", point[0], point[1]))
        .collect(Collectors.joining(" "));
  }

  SvgPicture dot(double x, double y, double radius, String colour, double opacity) {
    add(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\" fill-opacity=\"%s\"/>",
        x, y, Axis.label(radius), colour, Axis.label(opacity));
    return this;
  }

  SvgPicture ring(double x, double y, double radius, String colour) {
    add(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"none\" stroke=\"%s\""
            + " stroke-width=\"1.5\"/>",
        x, y, Axis.label(radius), colour);
    return this;
  }

  SvgPicture bar(double x, double y, double width, double height, String colour, double opacity) {
    add(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\""
            + " fill-opacity=\"%s\"/>",
        x, y, width, height, colour, Axis.label(opacity));
    return this;
  }

  /**
   * @param dash lengths of dashes and gaps; empty for a solid line
   */
  SvgPicture dashedLine(List<double[]> points, String colour, String dash) {
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>",
        coordinates(points),
        colour,
        dash.isEmpty() ? "" : " stroke-dasharray=\"%s\"".formatted(dash));
    return this;
  }

  /** Adds an upright error bar. */
  SvgPicture interval(double x, double low, double high, String colour) {
    add(
        "<path d=\"M%1$.1f %2$.1fV%3$.1fM%4$.1f %2$.1fh8M%4$.1f %3$.1fh8\" stroke=\"%5$s\""
            + " stroke-width=\"1.25\" stroke-opacity=\"0.75\"/>",
        x, low, high, x - 4, colour);
    return this;
  }

  /**
   * Adds a mark around a point.
   *
   * @param shape a path of ten by ten
   */
  SvgPicture mark(double x, double y, String shape, String fill, String stroke) {
    add(
        "<path transform=\"translate(%.1f %.1f) scale(.8)\" d=\"%s\" fill=\"%s\" stroke=\"%s\""
            + " stroke-width=\"2\"/>",
        x - 4, y - 4, shape, fill, stroke);
    return this;
  }

  /** Starts a group of elements that explain themselves when pointed at. */
  SvgPicture begin(String tip) {
    add("<g><title>%s</title>", Html.text(tip));
    return this;
  }

  /** Starts a group of one color. */
  SvgPicture beginColour(String colour) {
    add("<g fill=\"%s\" shape-rendering=\"crispEdges\">", colour);
    return this;
  }

  /** Adds a rectangle of the group's color that explains itself when pointed at. */
  SvgPicture cell(double x, double y, double width, double height, String tip) {
    add(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s</title></rect>",
        x, y, width, height, Html.text(tip));
    return this;
  }

  SvgPicture end() {
    add("</g>");
    return this;
  }

  String svg() {
    return lines + "</svg>\n";
  }
}

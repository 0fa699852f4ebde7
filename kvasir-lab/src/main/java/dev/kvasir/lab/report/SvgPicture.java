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

  SvgPicture(String title, int width, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
            + " font-size=\"12\" fill=\"%s\">",
        width, height, GREY);
    add("<title>%s</title>", Html.text(title));
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
        points.stream()
            .map(point -> String.format(Locale.ROOT, "%.1f,%.1f", point[0], point[1]))
            .collect(Collectors.joining(" ")),
        colour,
        Axis.label(thickness),
        opacity == 1 ? "" : " stroke-opacity=\"%s\"".formatted(Axis.label(opacity)));
    return this;
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

  String svg() {
    return lines + "</svg>\n";
  }
}

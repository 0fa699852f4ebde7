package dev.kvasir.lab.report;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.inspect.DeviationHistogram;
import dev.kvasir.lab.inspect.PatternFit;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A plot of keys and values next to their residuals after subtracting patterns. It needs no script
 * and is readable on light and dark backgrounds.
 */
public final class DistributionPlot {
  private static final int PANEL_WIDTH = 360;
  private static final int WIDTH = 2 * PANEL_WIDTH;
  private static final int HEIGHT = 270;
  private static final int MARGIN = 24;
  private static final int TOP = 48;
  private static final int BOTTOM = 48;
  private static final String WHOLE = "#4477aa";
  private static final String RESIDUAL = "#cc6677";

  private final PatternFit fit;

  public DistributionPlot(PatternFit fit) {
    this.fit = fit;
  }

  public void write(Path file) {
    AtomicFile.write(file, svg());
  }

  String svg() {
    return """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" \
    font-size="12" fill="#808080">
    <title>Keys and values, and what differs from their patterns</title>
    %s%s</svg>
    """
        .formatted(WIDTH, HEIGHT, panel("keys", fit.keys(), 0), panel("values", fit.values(), 1));
  }

  private static String panel(String name, PatternFit.Spread spread, int index) {
    double[] whole = spread.whole().density();
    double[] residual = spread.residual().density();
    double most =
        1.05
            * Math.max(
                Arrays.stream(whole).max().orElse(1), Arrays.stream(residual).max().orElse(1));
    int left = index * PANEL_WIDTH;
    return "<text x=\"%d\" y=\"22\" font-size=\"15\">%s</text>\n".formatted(left + MARGIN, name)
        + axis(left)
        + curve(whole, most, left, WHOLE)
        + curve(residual, most, left, RESIDUAL)
        + legend(left, 0, WHOLE, "as they are")
        + legend(left, 1, RESIDUAL, "without their patterns");
  }

  private static String axis(int left) {
    String line =
        "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#808080\"/>\n"
            .formatted(
                left + MARGIN, HEIGHT - BOTTOM, left + PANEL_WIDTH - MARGIN, HEIGHT - BOTTOM);
    String ticks =
        IntStream.rangeClosed(
                (int) -DeviationHistogram.RANGE / 2, (int) DeviationHistogram.RANGE / 2)
            .map(half -> 2 * half)
            .mapToObj(
                tick ->
                    text(
                        x((tick + DeviationHistogram.RANGE) / (2 * DeviationHistogram.RANGE), left),
                        HEIGHT - BOTTOM + 16,
                        "middle",
                        Integer.toString(tick)))
            .collect(Collectors.joining());
    return line
        + ticks
        + text(left + PANEL_WIDTH / 2.0, HEIGHT - 12, "middle", "standard deviations of the head");
  }

  private static String curve(double[] density, double most, int left, String colour) {
    String points =
        IntStream.range(0, density.length)
            .mapToObj(
                i ->
                    String.format(
                        Locale.ROOT,
                        "%.1f,%.1f",
                        x((i + 0.5) / density.length, left),
                        HEIGHT - BOTTOM - density[i] / most * (HEIGHT - TOP - BOTTOM)))
            .collect(Collectors.joining(" "));
    return "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
        .formatted(points, colour);
  }

  private static String legend(int left, int line, String colour, String words) {
    int at = TOP + 16 * line;
    int right = left + PANEL_WIDTH - MARGIN;
    return "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n"
            .formatted(right - 4, at - 4, colour)
        + text(right - 14, at, "end", words);
  }

  private static double x(double share, int left) {
    return left + MARGIN + share * (PANEL_WIDTH - 2 * MARGIN);
  }

  private static String text(double x, int y, String anchor, String words) {
    return String.format(
        Locale.ROOT,
        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>%n",
        x,
        y,
        anchor,
        words);
  }
}

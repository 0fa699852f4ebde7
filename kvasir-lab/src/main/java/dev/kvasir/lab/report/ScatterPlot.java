package dev.kvasir.lab.report;

import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A script-free scatter plot for documents, readable on light and dark backgrounds. */
public final class ScatterPlot {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 420;
  private static final int LEFT = 64;
  private static final int TOP = 40;
  private static final int RIGHT = 24;
  private static final int BOTTOM = 56;

  /** A color for each series, of about equal lightness. */
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

  /** Adds points, each as x and y. */
  public ScatterPlot points(String name, List<double[]> points) {
    series.add(new Series(name, false, List.copyOf(points)));
    return this;
  }

  /** Adds points connected by a line. */
  public ScatterPlot line(String name, List<double[]> points) {
    series.add(new Series(name, true, List.copyOf(points)));
    return this;
  }

  public void write(Path file) {
    AtomicFile.write(file, svg());
  }

  String svg() {
    Axis x = new Axis(most(0), LEFT, WIDTH - RIGHT);
    Axis y = new Axis(most(1), HEIGHT - BOTTOM, TOP);
    SvgPicture picture = new SvgPicture(title, WIDTH, HEIGHT).title(LEFT, title);
    axes(picture, x, y);
    for (int i = 0; i < series.size(); i++) {
      draw(picture, series.get(i), COLOURS.get(i % COLOURS.size()), x, y);
      legend(picture, series.get(i), COLOURS.get(i % COLOURS.size()), i);
    }
    return picture.svg();
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

  private void axes(SvgPicture picture, Axis x, Axis y) {
    for (double tick : x.ticks()) {
      picture
          .grid(x.at(tick), TOP, x.at(tick), HEIGHT - BOTTOM)
          .text(x.at(tick), HEIGHT - BOTTOM + 18, "middle", Axis.label(tick));
    }
    for (double tick : y.ticks()) {
      picture
          .grid(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick))
          .text(LEFT - 8, y.at(tick) + 4, "end", Axis.label(tick));
    }
    picture
        .text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", xName)
        .uprightText(16, (TOP + HEIGHT - BOTTOM) / 2.0, yName);
  }

  private static void draw(SvgPicture picture, Series one, String colour, Axis x, Axis y) {
    List<double[]> places =
        one.points().stream().map(point -> new double[] {x.at(point[0]), y.at(point[1])}).toList();
    if (one.joined()) {
      picture.polyline(places, colour);
    }
    for (double[] place : places) {
      picture.dot(place[0], place[1], one.joined() ? 4 : 2.5, colour, 0.75);
    }
  }

  private static void legend(SvgPicture picture, Series one, String colour, int index) {
    int at = TOP + 14 + 16 * index;
    picture
        .dot(WIDTH - RIGHT - 8, at - 4, 4, colour, 1)
        .text(WIDTH - RIGHT - 18, at, "end", one.name());
  }
}

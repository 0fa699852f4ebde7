package dev.kvasir.lab.report;

import dev.kvasir.codec.MethodFamily;
import dev.kvasir.lab.report.Frontier.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The plot of a {@link Frontier}: a filled point for each undominated cache, a curve through the
 * Pareto front of each method, and a color for each family.
 */
final class FrontierPlot {
  private static final int WIDTH = 840;
  private static final int HEIGHT = 600;
  private static final int LEFT = 64;
  private static final int TOP = 68;
  private static final int RIGHT = 16;
  private static final int BOTTOM = 50;
  private static final double RADIUS = 4;
  private static final double FAINT = 0.6;
  private static final String FLOOR = "noise floor: the divergence of an fp32 cache";

  /** Margin around the outermost points, as a factor. */
  private static final double HEADROOM = 1.3;

  private final Frontier frontier;
  private final Map<String, List<Point>> methods; // points by method
  private final Axis bits;
  private final LogAxis divergence;

  FrontierPlot(Frontier frontier) {
    this.frontier = frontier;
    this.methods =
        frontier.points().stream()
            .collect(Collectors.groupingBy(Point::method, LinkedHashMap::new, Collectors.toList()));
    this.bits = bits(frontier.points());
    double most = frontier.points().stream().mapToDouble(Point::divergence).max().orElseThrow();
    double least = frontier.points().stream().mapToDouble(Point::divergence).min().orElseThrow();
    this.divergence =
        new LogAxis(
            Math.min(least, frontier.floor().orElse(least)) / HEADROOM,
            most * HEADROOM,
            HEIGHT - BOTTOM,
            TOP);
  }

  /** Starts at the last whole number below all points; 0 lies outside the plot. */
  private static Axis bits(List<Point> points) {
    double most = points.stream().mapToDouble(Point::bits).max().orElseThrow() + 0.3;
    double first = Math.floor(points.stream().mapToDouble(Point::bits).min().orElseThrow());
    double across = WIDTH - RIGHT - LEFT;
    return new Axis(most, LEFT - first / (most - first) * across, WIDTH - RIGHT);
  }

  String svg() {
    String title = "KL divergence from fp16 against KV-cache size";
    SvgPicture picture = new SvgPicture(title, WIDTH, HEIGHT).title(LEFT, title);
    axes(picture);
    legend(picture);
    frontier.floor().ifPresent(floor -> floor(picture, floor));
    methods.forEach((method, points) -> curve(picture, FamilyStyle.family(method), points));
    List<Point> front = Frontier.paretoFront(frontier.points());
    frontier.points().forEach(point -> dot(picture, point, front.contains(point)));
    labels(picture);
    return picture.svg();
  }

  private void axes(SvgPicture picture) {
    for (double tick : bits.ticks()) {
      if (bits.at(tick) < LEFT) {
        continue;
      }
      picture
          .grid(bits.at(tick), TOP, bits.at(tick), HEIGHT - BOTTOM)
          .text(bits.at(tick), HEIGHT - BOTTOM + 18, "middle", Axis.label(tick));
    }
    for (double tick : divergence.ticks()) {
      picture
          .grid(LEFT, divergence.at(tick), WIDTH - RIGHT, divergence.at(tick))
          .text(LEFT - 8, divergence.at(tick) + 4, "end", Axis.label(tick));
    }
    String across =
        String.format(
            Locale.ROOT,
            "bits per value after %,d tokens, all overheads included (fp16: 16)",
            frontier.tokens());
    picture
        .text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", across)
        .uprightText(
            14,
            (TOP + HEIGHT - BOTTOM) / 2.0,
            "KL divergence from fp16 on a novel (lower is better)");
  }

  private void legend(SvgPicture picture) {
    List<MethodFamily> shown =
        Arrays.stream(MethodFamily.values())
            .filter(
                family ->
                    methods.keySet().stream()
                        .anyMatch(method -> FamilyStyle.family(method) == family))
            .toList();
    double x = LEFT + 6;
    for (MethodFamily family : shown) {
      FamilyStyle style = FamilyStyle.of(family);
      picture.dot(x, 44, RADIUS, style.colour(), 1).text(x + 10, 48, "start", style.title());
      x += 34 + 6.6 * style.title().length();
    }
    picture
        .dot(WIDTH - RIGHT - 262, 18, RADIUS, SvgPicture.GREY, 1)
        .text(WIDTH - RIGHT - 252, 22, "start", "Pareto-optimal: none is smaller and closer");
  }

  private void floor(SvgPicture picture, double floor) {
    double y = divergence.at(floor);
    picture
        .bar(LEFT, y, WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - y, SvgPicture.GREY, 0.12)
        .dashes(LEFT, y, WIDTH - RIGHT, y, SvgPicture.GREY);
    Box words = floorWords(floor);
    picture.text(words.left(), words.bottom() - 4, "start", FLOOR);
  }

  private Box floorWords(double floor) {
    return new Box(LEFT + 8, divergence.at(floor) + 4, 7 * FLOOR.length(), 18);
  }

  private void curve(SvgPicture picture, MethodFamily family, List<Point> points) {
    List<double[]> places = Frontier.paretoFront(points).stream().map(this::place).toList();
    if (places.size() > 1) {
      picture.polyline(
          places,
          FamilyStyle.of(family).colour(),
          isOurs(family) ? 2.5 : 1.5,
          isOurs(family) ? 1 : FAINT);
    }
  }

  private static boolean isOurs(MethodFamily family) {
    return family == MethodFamily.TOKEN_TABLES;
  }

  private double[] place(Point point) {
    return new double[] {bits.at(point.bits()), divergence.at(point.divergence())};
  }

  private void dot(SvgPicture picture, Point point, boolean full) {
    double[] place = place(point);
    String colour = FamilyStyle.colour(point.method());
    if (full) {
      picture.dot(place[0], place[1], RADIUS + 0.75, colour, 1);
    } else {
      picture.ring(place[0], place[1], RADIUS, colour);
    }
  }

  private void labels(SvgPicture picture) {
    List<LabelPlacement.Label> labels = labels();
    for (int i = 0; i < labels.size(); i++) {
      LabelPlacement.Label label = labels.get(i);
      String colour = FamilyStyle.colour(frontier.points().get(i).method());
      if (label.far()) {
        Box.Line line = label.leader();
        picture.polyline(
            List.of(new double[] {line.x1(), line.y1()}, new double[] {line.x2(), line.y2()}),
            colour,
            0.8,
            FAINT);
      }
      picture.label(label.x(), label.y(), label.anchor(), label.point().name(), colour);
    }
  }

  /** Returns one label for each point. */
  List<LabelPlacement.Label> labels() {
    List<Box> occupied = new ArrayList<>();
    List<Box.Line> lines = new ArrayList<>();
    frontier
        .floor()
        .ifPresent(
            floor -> {
              occupied.add(floorWords(floor));
              double y = divergence.at(floor);
              lines.add(new Box.Line(LEFT, y, WIDTH - RIGHT, y));
            });
    methods.values().forEach(points -> lines.addAll(segments(points)));
    List<LabelPlacement.Point> points =
        frontier.points().stream()
            .map(
                point ->
                    new LabelPlacement.Point(
                        place(point)[0], place(point)[1], RADIUS + 1, point.name()))
            .toList();
    Box inner = new Box(LEFT, TOP, WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - TOP);
    return new LabelPlacement(inner, occupied, lines, points).find();
  }

  private List<Box.Line> segments(List<Point> points) {
    List<double[]> places = Frontier.paretoFront(points).stream().map(this::place).toList();
    List<Box.Line> segments = new ArrayList<>();
    for (int i = 1; i < places.size(); i++) {
      double[] a = places.get(i - 1);
      double[] b = places.get(i);
      segments.add(new Box.Line(a[0], a[1], b[0], b[1]));
    }
    return segments;
  }
}

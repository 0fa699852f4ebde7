package dev.kvasir.lab.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Places the names of points without covering each other or other parts of the plot. Each label
 * tries positions around its point and takes the cheapest, given the others; this repeats until no
 * label moves. The result depends on the order, so several starts are tried and the cheapest wins.
 */
final class LabelPlacement {
  /** Width of a character in the widest common font at label size. */
  private static final double CHARACTER = 6.5;

  private static final double HEIGHT = 12;

  /** Distance from the top of a label to its baseline. */
  private static final double ASCENT = 10;

  private static final double[] DISTANCES = {7, 13, 20, 28, 37, 47, 58, 70};
  private static final int DIRECTIONS = 16;
  private static final int ROUNDS = 40;
  private static final int STARTS = 16;

  /** Labels farther away get a leader line. */
  private static final double NEAR = 10;

  private static final double ON_LABEL = 1000;
  private static final double ON_DOT = 400;
  private static final double LED_OVER_LABEL = 300;
  private static final double ON_LINE = 25;

  /**
   * A point and its name.
   *
   * @param radius drawn radius
   */
  record Point(double x, double y, double radius, String name) {
    Box box() {
      return new Box(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }

  /**
   * The placement of a name.
   *
   * @param anchor the side that faces the point: start, middle or end
   * @param distance approximate distance from the point
   */
  record Label(Point point, Box box, String anchor, double distance) {
    /** Returns whether the label needs a leader line. */
    boolean far() {
      return distance > NEAR;
    }

    double x() {
      return switch (anchor) {
        case "start" -> box.left();
        case "end" -> box.right();
        default -> box.left() + box.width() / 2;
      };
    }

    double y() {
      return box.top() + ASCENT;
    }

    Box.Line leader() {
      return box.lineFrom(point.x, point.y);
    }
  }

  private final Box picture;
  private final List<Box> occupied;
  private final List<Box.Line> lines;
  private final List<Point> points;
  private final List<Label> labels = new ArrayList<>(); // by point, null before the first round

  /**
   * @param picture area that contains all labels
   * @param occupied areas with other content
   * @param lines lines that should stay visible
   */
  LabelPlacement(Box picture, List<Box> occupied, List<Box.Line> lines, List<Point> points) {
    this.picture = picture;
    this.occupied = occupied;
    this.lines = lines;
    this.points = points;
    this.labels.addAll(Collections.nCopies(points.size(), null));
  }

  List<Label> find() {
    List<Label> best = List.of();
    double least = Double.POSITIVE_INFINITY;
    for (int start = 0; start < Math.min(STARTS, points.size()); start++) {
      relax(start * points.size() / STARTS);
      double cost = 0;
      for (int i = 0; i < points.size(); i++) {
        cost += cost(i, labels.get(i));
      }
      if (cost < least || best.isEmpty()) {
        least = cost;
        best = List.copyOf(labels);
      }
    }
    return best;
  }

  private void relax(int start) {
    Collections.fill(labels, null);
    boolean moved = true;
    for (int round = 0; round < ROUNDS && moved; round++) {
      moved = false;
      for (int i = 0; i < points.size(); i++) {
        int index = (start + i) % points.size();
        Label best = best(index);
        moved |= !best.equals(labels.get(index));
        labels.set(index, best);
      }
    }
  }

  private Label best(int index) {
    Label best = null;
    double least = Double.POSITIVE_INFINITY;
    for (double distance : DISTANCES) {
      for (int direction = 0; direction < DIRECTIONS; direction++) {
        Label label = label(points.get(index), distance, direction);
        double cost = cost(index, label);
        if (cost < least || best == null) {
          least = cost;
          best = label;
        }
      }
    }
    return best;
  }

  private static Label label(Point point, double distance, int direction) {
    double angle = 2 * Math.PI * direction / DIRECTIONS;
    double x = point.x + (point.radius + distance - 4) * StrictMath.cos(angle);
    double y = point.y + (point.radius + distance - 4) * StrictMath.sin(angle);
    double width = CHARACTER * point.name.length();
    boolean upright = direction % (DIRECTIONS / 2) == DIRECTIONS / 4;
    String anchor = upright ? "middle" : StrictMath.cos(angle) > 0 ? "start" : "end";
    double left =
        switch (anchor) {
          case "start" -> x;
          case "end" -> x - width;
          default -> x - width / 2;
        };
    double top = y - HEIGHT / 2 + HEIGHT / 2 * StrictMath.sin(angle);
    return new Label(point, new Box(left, top, width, HEIGHT), anchor, distance);
  }

  private double cost(int index, Label label) {
    if (!picture.contains(label.box())) {
      return Double.POSITIVE_INFINITY;
    }
    double cost = label.distance();
    for (Box box : occupied) {
      cost += label.box().overlaps(box) ? ON_LABEL : 0;
    }
    for (int other = 0; other < points.size(); other++) {
      if (other != index) {
        cost += overlapCost(label, points.get(other), labels.get(other));
      }
    }
    for (Box.Line line : lines) {
      cost += label.box().isCrossedBy(line) ? ON_LINE : 0;
    }
    return cost;
  }

  private static double overlapCost(Label label, Point other, Label placed) {
    double cost = label.box().overlaps(other.box()) ? ON_DOT : 0;
    if (label.far()) {
      cost += other.box().isCrossedBy(label.leader()) ? ON_DOT : 0;
    }
    if (placed == null) {
      return cost;
    }
    cost += label.box().overlaps(placed.box()) ? ON_LABEL : 0;
    cost += label.far() && placed.box().isCrossedBy(label.leader()) ? LED_OVER_LABEL : 0;
    cost += placed.far() && label.box().isCrossedBy(placed.leader()) ? LED_OVER_LABEL : 0;
    return cost;
  }
}

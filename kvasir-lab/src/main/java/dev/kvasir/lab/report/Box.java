package dev.kvasir.lab.report;

/** A rectangle in a picture. */
record Box(double left, double top, double width, double height) {
  double right() {
    return left + width;
  }

  double bottom() {
    return top + height;
  }

  boolean overlaps(Box other) {
    return left < other.right()
        && other.left < right()
        && top < other.bottom()
        && other.top < bottom();
  }

  boolean contains(Box other) {
    return left <= other.left
        && other.right() <= right()
        && top <= other.top
        && other.bottom() <= bottom();
  }

  /** Returns whether a line crosses the box, by clipping it at each side. */
  boolean isCrossedBy(Line line) {
    double[] span = {0, 1};
    double dx = line.x2() - line.x1();
    double dy = line.y2() - line.y1();
    return cut(span, -dx, line.x1() - left)
        && cut(span, dx, right() - line.x1())
        && cut(span, -dy, line.y1() - top)
        && cut(span, dy, bottom() - line.y1());
  }

  /** Clips a span to the inner side, where {@code speed * t <= limit}. */
  private static boolean cut(double[] span, double speed, double limit) {
    if (speed == 0) {
      return limit >= 0;
    }
    if (speed < 0) {
      span[0] = Math.max(span[0], limit / speed);
    } else {
      span[1] = Math.min(span[1], limit / speed);
    }
    return span[0] <= span[1];
  }

  /** Returns the line from a point outside to the nearest point of the box. */
  Line lineFrom(double x, double y) {
    return new Line(x, y, Math.clamp(x, left, right()), Math.clamp(y, top, bottom()));
  }

  record Line(double x1, double y1, double x2, double y2) {}
}

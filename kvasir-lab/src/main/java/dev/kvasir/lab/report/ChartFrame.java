package dev.kvasir.lab.report;

import java.util.List;

/**
 * The plot area of a chart with its axes, in pixels.
 *
 * @param left of the area; labels of the upright axis are before it
 * @param bottom of the area; labels and the name of the other axis are below it
 */
record ChartFrame(double left, double top, double right, double bottom) {
  /** Pixels from an axis to its labels. */
  private static final int MARGIN = 8;

  /** Half of a mark or a label extends beyond the area. */
  private static final int EDGE = 18;

  /** Returns the area next to labels and above a named axis. */
  static ChartFrame of(int width, int height, List<String> labels) {
    return new ChartFrame(
        MARGIN + Math.ceil(ChartText.width(labels)),
        EDGE / 2.0,
        width - EDGE,
        height - 2 * ChartText.LINE - MARGIN);
  }

  /** Draws grid lines at some heights. */
  void levels(SvgPicture picture, double[] heights, List<String> labels) {
    for (int i = 0; i < heights.length; i++) {
      picture
          .grid(left, heights[i], right, heights[i])
          .text(left - MARGIN, heights[i] + 4, "end", labels.get(i));
    }
  }

  /** Draws labels below the area, and the axis's name. */
  void below(SvgPicture picture, double[] places, List<String> labels, String name) {
    for (int i = 0; i < places.length; i++) {
      picture.text(places[i], bottom + ChartText.LINE, "middle", labels.get(i));
    }
    picture.text((left + right) / 2, bottom + 2 * ChartText.LINE, "middle", name);
  }
}

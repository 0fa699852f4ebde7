package dev.kvasir.lab.report;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A sequence of the page's colors, such as {@code --found-0} to {@code --found-4}. The style sheet
 * defines them for both color schemes.
 */
record ColourRamp(String name) {
  private static final int LAST = 4;
  private static final int STEPS = 10;

  private String stop(int index) {
    return "var(--%s-%d)".formatted(name, index);
  }

  List<String> stops() {
    return IntStream.rangeClosed(0, LAST).mapToObj(this::stop).toList();
  }

  /**
   * Returns one of {@value #STEPS} colors between each two stops.
   *
   * @param share of the way, from 0 to 1
   */
  String at(double share) {
    double place = Math.clamp(share, 0, 1) * LAST;
    int before = Math.min((int) place, LAST - 1);
    int step = (int) Math.round(STEPS * (place - before));
    return step % STEPS == 0
        ? stop(before + step / STEPS)
        : "color-mix(in srgb, %s, %s %d%%)"
            .formatted(stop(before), stop(before + 1), 100 * step / STEPS);
  }

  /** Returns the nearest stop, for text on the color. */
  String nearest(double share) {
    return stop((int) Math.round(Math.clamp(share, 0, 1) * LAST));
  }
}

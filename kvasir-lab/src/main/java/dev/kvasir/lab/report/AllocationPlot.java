package dev.kvasir.lab.report;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.allocate.Sensitivities;
import java.nio.file.Path;
import java.util.List;

/**
 * A plot of layer sensitivities by bit width and of the allocated widths (PM-KVQ, figures 3 and 4):
 * one bar for each width, opaque for the chosen one.
 */
public final class AllocationPlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 340;
  private static final int LEFT = 64;
  private static final int TOP = 40;
  private static final int RIGHT = 24;
  private static final int BOTTOM = 64;
  private static final double FAINT = 0.3;

  /** Width of a layer label in pixels. */
  private static final int LABEL = 22;

  /** By width, from the narrowest on. */
  private static final List<String> COLOURS = List.of("#4477aa", "#cc6677", "#999933", "#44aa99");

  private final Sensitivities sensitivities;
  private final List<Integer> widths;
  private final double pitch; // pixels from a layer to the next
  private final Axis loss;

  private AllocationPlot(Sensitivities sensitivities, List<Integer> widths) {
    this.sensitivities = sensitivities;
    this.widths = widths;
    this.pitch = (double) (WIDTH - LEFT - RIGHT) / sensitivities.layers();
    this.loss = new Axis(1.08 * most(sensitivities), HEIGHT - BOTTOM, TOP);
  }

  /**
   * @param widths allocated width of each layer, one of those with a known sensitivity
   */
  public static AllocationPlot of(Sensitivities sensitivities, List<Integer> widths) {
    if (widths.size() != sensitivities.layers()) {
      throw new IllegalArgumentException(
          "%d widths for %d layers".formatted(widths.size(), sensitivities.layers()));
    }
    return new AllocationPlot(sensitivities, List.copyOf(widths));
  }

  private static double most(Sensitivities sensitivities) {
    double most = 0;
    for (int layer = 0; layer < sensitivities.layers(); layer++) {
      for (int width : sensitivities.widths()) {
        most = Math.max(most, sensitivities.of(layer, width));
      }
    }
    return most > 0 ? most : 1;
  }

  public void write(Path file) {
    AtomicFile.write(file, svg());
  }

  String svg() {
    String title = "What layers lose at each width, and the width they were given";
    SvgPicture picture = new SvgPicture(title, WIDTH, HEIGHT).title(LEFT, title);
    for (double tick : loss.ticks()) {
      picture
          .grid(LEFT, loss.at(tick), WIDTH - RIGHT, loss.at(tick))
          .text(LEFT - 8, loss.at(tick) + 4, "end", Axis.label(tick));
    }
    int labelled = (int) Math.ceil(LABEL / pitch);
    for (int layer = 0; layer < sensitivities.layers(); layer++) {
      bars(picture, layer);
      if (layer % labelled == 0) {
        labels(picture, layer);
      }
    }
    picture
        .text(
            (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", "layer, and the bits it was given")
        .uprightText(16, (TOP + HEIGHT - BOTTOM) / 2.0, "sensitivity");
    legend(picture);
    return picture.svg();
  }

  private void bars(SvgPicture picture, int layer) {
    List<Integer> known = sensitivities.widths();
    double thickness = 0.8 * pitch / known.size();
    for (int i = 0; i < known.size(); i++) {
      double top = loss.at(sensitivities.of(layer, known.get(i)));
      picture.bar(
          LEFT + (layer + 0.1) * pitch + i * thickness,
          top,
          0.9 * thickness,
          HEIGHT - BOTTOM - top,
          colour(i),
          widths.get(layer).equals(known.get(i)) ? 1 : FAINT);
    }
  }

  private void labels(SvgPicture picture, int layer) {
    double middle = LEFT + (layer + 0.5) * pitch;
    picture
        .text(middle, HEIGHT - BOTTOM + 16, "middle", Integer.toString(layer))
        .text(middle, HEIGHT - BOTTOM + 32, "middle", Integer.toString(widths.get(layer)));
  }

  private void legend(SvgPicture picture) {
    List<Integer> known = sensitivities.widths();
    for (int i = 0; i < known.size(); i++) {
      double x = (LEFT + WIDTH - RIGHT) / 2.0 + 70 * (i - known.size() / 2.0);
      picture.dot(x, TOP - 4, 4, colour(i), 1).text(x + 10, TOP, "start", known.get(i) + " bits");
    }
  }

  private static String colour(int width) {
    return COLOURS.get(width % COLOURS.size());
  }
}

package dev.kvasir.lab.report;

import dev.kvasir.lab.report.GpuCapacity.Kind;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The plot of a {@link GpuCapacity}: bars of sequences and bars of tokens per second. */
final class GpuCapacityPlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 320;
  private static final int LEFT = 16;
  private static final int TOP = 72;
  private static final int BOTTOM = 40;
  private static final int GAP = 40; // between the two
  private static final double FILLED = 0.7; // of a bar's share of the width

  /** Space above the longest bar for its number, as a factor. */
  private static final double HEADROOM = 1.12;

  private final GpuCapacity capacity;

  GpuCapacityPlot(GpuCapacity capacity) {
    this.capacity = capacity;
  }

  String svg() {
    String title =
        String.format(
            Locale.ROOT,
            "Sequences of %,d tokens in %d GiB of a card, by kind of cache",
            capacity.tokens(),
            capacity.bytes() >> 30);
    SvgPicture picture = new SvgPicture(title, WIDTH, HEIGHT).title(LEFT, title);
    double width = (WIDTH - 2 * LEFT - GAP) / 2.0;
    bars(picture, new Box(LEFT, TOP, width, HEIGHT - TOP - BOTTOM), "sequences", Kind::sequences);
    bars(
        picture,
        new Box(LEFT + width + GAP, TOP, width, HEIGHT - TOP - BOTTOM),
        "tokens a second, of all together",
        Kind::tokensPerSecond);
    return picture.svg();
  }

  private void bars(SvgPicture picture, Box box, String title, ToDoubleFunction<Kind> number) {
    double most = capacity.kinds().stream().mapToDouble(number).max().orElseThrow();
    Axis axis = new Axis(HEADROOM * most, box.bottom(), box.top());
    double share = box.width() / capacity.kinds().size();
    picture
        .text(box.left(), box.top() - 14, "start", title)
        .grid(box.left(), box.bottom(), box.right(), box.bottom());
    for (int i = 0; i < capacity.kinds().size(); i++) {
      Kind kind = capacity.kinds().get(i);
      double value = number.applyAsDouble(kind);
      double middle = box.left() + (i + 0.5) * share;
      String colour = FamilyStyle.colour(kind.name().split(":", 2)[0]);
      picture
          .bar(
              middle - FILLED * share / 2,
              axis.at(value),
              FILLED * share,
              box.bottom() - axis.at(value),
              colour,
              1)
          .text(middle, axis.at(value) - 6, "middle", String.format(Locale.ROOT, "%,.0f", value))
          .text(middle, box.bottom() + 18, "middle", kind.name());
    }
  }
}

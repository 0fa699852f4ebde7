package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.mead.MeadBitAllocation;
import dev.kvasir.codec.mead.MeadBitAllocation.Row;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A plot of a cache's bit allocation: a cell for keys and for values of each head, layers from top
 * to bottom, and charts of bits and quantized channels by tier.
 */
public final class BitsPlot {
  private static final int WIDTH = 840;
  private static final int TOP = 84;
  private static final int BOTTOM = 44;
  private static final int LEFT = 44;
  private static final int CELLS_END = 500;
  private static final int BARS = 560;
  private static final int RIGHT = 16;

  /** Minimum height of the two charts together. */
  private static final int MIN_HEIGHT = 330;

  private static final int MAX_CELL = 44;
  private static final int MIN_CELL = 13;

  /** Narrower cells have no number in them. */
  private static final double NUMBER_WIDTH = 24;

  private static final String KEYS = "#3f86cf";
  private static final String VALUES = "#c77700";

  /** Cells have their own background, so that their numbers are readable on any page. */
  private static final int[] NO_BITS = {0xe9, 0xef, 0xf6};

  private static final int[] MAX_BITS = {0x0b, 0x3c, 0x7a};

  private final String spec;
  private final MeadBitAllocation bits;
  private final double cellHeight;
  private final double cellWidth;
  private final int height;
  private final double most; // mean bits of any cell

  /**
   * @param spec cache spec as typed
   */
  BitsPlot(String spec, MeadBitAllocation bits) {
    this.spec = spec;
    this.bits = bits;
    this.cellHeight = Math.clamp((double) MIN_HEIGHT / bits.layers(), MIN_CELL, MAX_CELL);
    this.cellWidth = (CELLS_END - LEFT) / (2.0 * bits.kvHeads());
    this.height = TOP + BOTTOM + (int) Math.max(MIN_HEIGHT, Math.ceil(cellHeight * bits.layers()));
    double found = 0;
    for (Row row : bits.rows()) {
      found = Math.max(found, bits.meanBits(cell(row.layer(), row.head(), row.ofKeys())));
    }
    this.most = found > 0 ? found : 1;
  }

  /** Returns the plot of a cache, for a model whose profile and rotation the context provides. */
  public static BitsPlot of(CacheSpec spec, CacheShape shape, CacheContext context) {
    try (ModelTables tables = new ModelTables()) {
      MeadBitAllocation shares =
          spec.configFor(shape)
              .cacheConfig(shape, context.withTables(Optional.of(tables)))
              .codec()
              .flatMap(MeadBitAllocation::of)
              .orElseThrow(
                  () ->
                      new InvalidInputException(
                          "the cache '%s' has no bits by head; expected mead with a profile"
                              .formatted(spec)));
      return new BitsPlot(spec.text(), shares);
    }
  }

  public void write(Path file) {
    AtomicFile.write(file, svg());
  }

  private static Predicate<Row> cell(int layer, int head, boolean ofKeys) {
    return row -> row.layer() == layer && row.head() == head && row.ofKeys() == ofKeys;
  }

  private static Predicate<Row> ofClass(int tokens, boolean ofKeys) {
    return row -> row.tokens() == tokens && row.ofKeys() == ofKeys;
  }

  String svg() {
    String title = "Where the bits of %s go".formatted(spec);
    SvgPicture picture = new SvgPicture(title, WIDTH, height).title(LEFT, title);
    picture.text(
        LEFT, 46, "start", "bits of a channel by layer and KV head, in the mean over tokens");
    picture.uprightText(14, TOP + bits.layers() * cellHeight / 2, "layer");
    heads(picture);
    for (int layer = 0; layer < bits.layers(); layer++) {
      layer(picture, layer);
    }
    picture.text(
        LEFT,
        height - 12,
        "start",
        String.format(
            Locale.ROOT,
            "K keys, V values; %.2f bits in the mean over all that is coded",
            bits.meanBits(row -> true)));
    picture.text(BARS, 46, "start", "by class of tokens on a page of 128");
    double half = (height - TOP - BOTTOM) / 2.0;
    bars(picture, TOP, half - 46, "bits of a channel", "%.2f", bits::meanBits);
    bars(picture, TOP + half + 20, half - 46, channelsTitle(), "%.0f", bits::meanQuantizedChannels);
    return picture.svg();
  }

  private String channelsTitle() {
    int keys = channels(true);
    int values = channels(false);
    return keys == values
        ? "channels that are coded, of %d".formatted(keys)
        : "channels that are coded, of %d and %d".formatted(keys, values);
  }

  private int channels(boolean ofKeys) {
    return bits.rows().stream()
        .filter(row -> row.ofKeys() == ofKeys)
        .mapToInt(Row::channels)
        .max()
        .orElse(0);
  }

  private void heads(SvgPicture picture) {
    for (int head = 0; head < bits.kvHeads(); head++) {
      double x = LEFT + 2 * head * cellWidth;
      picture
          .text(x + cellWidth, TOP - 20, "middle", names() ? "head " + head : "" + head)
          .text(x + cellWidth / 2, TOP - 5, "middle", "K")
          .text(x + 1.5 * cellWidth, TOP - 5, "middle", "V");
    }
  }

  private boolean names() {
    return 2 * cellWidth >= 50;
  }

  private void layer(SvgPicture picture, int layer) {
    double y = TOP + layer * cellHeight;
    double baseline = y + cellHeight / 2 + 4;
    picture.text(LEFT - 8, baseline, "end", "" + layer);
    if (!bits.isQuantized(layer)) {
      picture
          .bar(LEFT, y + 1, CELLS_END - LEFT - 2, cellHeight - 2, SvgPicture.GREY, 0.15)
          .text((LEFT + CELLS_END) / 2.0, baseline, "middle", "known from the tokens: no codes");
      return;
    }
    for (int head = 0; head < bits.kvHeads(); head++) {
      // A gap between heads, none between the keys and values of one.
      double x = LEFT + 2 * head * cellWidth;
      cell(picture, x, y, bits.meanBits(cell(layer, head, true)));
      cell(picture, x + cellWidth - 1, y, bits.meanBits(cell(layer, head, false)));
    }
  }

  private void cell(SvgPicture picture, double x, double y, double mean) {
    double share = mean / most;
    picture.bar(x, y + 1, cellWidth - 1, cellHeight - 2, ground(share), 1);
    if (cellWidth >= NUMBER_WIDTH) {
      picture.label(
          x + (cellWidth - 1) / 2,
          y + cellHeight / 2 + 4,
          "middle",
          String.format(Locale.ROOT, cellWidth < 30 ? "%.1f" : "%.2f", mean),
          share > 0.6 ? "#ffffff" : "#202020");
    }
  }

  private static String ground(double share) {
    StringBuilder colour = new StringBuilder("#");
    for (int i = 0; i < NO_BITS.length; i++) {
      long part = Math.round(NO_BITS[i] + share * (MAX_BITS[i] - NO_BITS[i]));
      colour.append(String.format(Locale.ROOT, "%02x", part));
    }
    return colour.toString();
  }

  /** A statistic of some rows. */
  private interface Figure {
    double of(Predicate<Row> some);
  }

  private void bars(
      SvgPicture picture, double top, double tall, String title, String format, Figure figure) {
    List<Integer> classes =
        bits.rows().stream().map(Row::tokens).distinct().sorted(Comparator.reverseOrder()).toList();
    double largest = 0;
    for (int tokens : classes) {
      for (boolean ofKeys : new boolean[] {true, false}) {
        largest = Math.max(largest, figure.of(ofClass(tokens, ofKeys)));
      }
    }
    Axis up = new Axis(largest > 0 ? 1.15 * largest : 1, top + tall, top);
    double pitch = (double) (WIDTH - RIGHT - BARS) / Math.max(1, classes.size());
    picture.text(BARS, top - 8, "start", title).grid(BARS, top + tall, WIDTH - RIGHT, top + tall);
    for (int i = 0; i < classes.size(); i++) {
      double x = BARS + (i + 0.5) * pitch;
      int tokens = classes.get(i);
      bar(picture, x - 36, up, figure.of(ofClass(tokens, true)), format, "K", KEYS);
      bar(picture, x + 2, up, figure.of(ofClass(tokens, false)), format, "V", VALUES);
      picture.text(x, top + tall + 31, "middle", tokens + " tokens");
    }
  }

  private static void bar(
      SvgPicture picture,
      double x,
      Axis up,
      double value,
      String format,
      String name,
      String colour) {
    double y = up.at(value);
    picture
        .bar(x, y, 34, up.from() - y, colour, 1)
        .text(x + 17, y - 4, "middle", String.format(Locale.ROOT, format, value))
        .text(x + 17, up.from() + 15, "middle", name);
  }
}

package dev.kvasir.lab.report;

import dev.kvasir.lab.inspect.KeyRanges;
import dev.kvasir.lab.report.ReportSection.Panel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Ranges of key channels, as a map of layers and channels for each KV head. */
final class KeyRangeMaps {
  private static final int WIDTH = 480;
  private static final int MAX_HEIGHT = 420;
  private static final int MAX_ROW_HEIGHT = 18;
  private static final ColourRamp RANGE = new ColourRamp("range");

  private final float[][][] ranges; // (layers, kvHeads, headDim)
  private final double least;
  private final double most;

  private KeyRangeMaps(float[][][] ranges) {
    this.ranges = ranges;
    double low = Double.POSITIVE_INFINITY;
    double high = 0;
    for (float[][] heads : ranges) {
      for (float[] channels : heads) {
        for (float range : channels) {
          low = range > 0 ? Math.min(low, range) : low;
          high = Math.max(high, range);
        }
      }
    }
    this.least = low;
    this.most = high;
  }

  static ReportSection section(Optional<KeyRanges> measured) {
    ChartLegend legend = new ChartLegend();
    List<Panel> panels = new ArrayList<>();
    if (measured.isPresent()) {
      KeyRangeMaps maps = new KeyRangeMaps(measured.get().ranges());
      legend.ramp(
          ChartText.digits(maps.least),
          ChartText.digits(maps.most) + ", logarithmic",
          RANGE.stops());
      IntStream.range(0, maps.ranges[0].length).forEach(head -> panels.add(maps.panel(head)));
    }
    return new ReportSection(
        "keys",
        "Ranges of key channels",
        ("Largest less smallest value of a channel, as keys go into the cache, over %s tokens of the"
                + " text. Codes of one group share this range, so a channel that stands out costs"
                + " precision.")
            .formatted(measured.map(ranges -> ChartText.count(ranges.tokens())).orElse("no")),
        legend,
        false,
        panels);
  }

  private Panel panel(int head) {
    String title = "KV head " + head;
    HeatMap map =
        new HeatMap(
            title,
            WIDTH,
            Math.max(3, Math.min(MAX_ROW_HEIGHT, MAX_HEIGHT / ranges.length)),
            0,
            numbers(ranges[0][head].length),
            numbers(ranges.length));
    List<HeatMap.Cell> cells = new ArrayList<>();
    for (int layer = 0; layer < ranges.length; layer++) {
      for (int channel = 0; channel < ranges[layer][head].length; channel++) {
        cells.add(cell(layer, channel, ranges[layer][head][channel]));
      }
    }
    return new Panel(title, "layers from top to bottom", map.picture("channel", cells));
  }

  private HeatMap.Cell cell(int layer, int channel, double range) {
    double share =
        most > least ? Math.log(Math.max(range, least) / least) / Math.log(most / least) : 0;
    return new HeatMap.Cell(
        channel,
        layer,
        RANGE.at(share),
        "",
        "",
        "layer %d, channel %d%nrange %s".formatted(layer, channel, ChartText.digits(range)));
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).toList();
  }
}

package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.report.ReportSection.Panel;
import java.util.List;
import java.util.function.ToLongFunction;

/** The bytes of each row's cache by purpose, as stacked bars. */
final class BytesChart {
  private static final int WIDTH = 560;
  private static final int BAR = 14;
  private static final int ROW_HEIGHT = ChartText.LINE + BAR + 14;

  private static final List<Part> PARTS =
      List.of(
          new Part("codes", CacheBytes::codes, 0),
          new Part("scales and zero points", CacheBytes::scales, 1),
          new Part("full precision", CacheBytes::window, 2),
          new Part("first tokens", CacheBytes::sinks, 3),
          new Part("tables", CacheBytes::tables, 4));

  private record Part(String name, ToLongFunction<CacheBytes> bytes, int number) {
    String colour() {
      return "var(--parts-%d)".formatted(number);
    }

    long of(Row row) {
      return bytes.applyAsLong(row.footprint().parts());
    }
  }

  private enum Unit {
    GIB("GiB", 30),
    MIB("MiB", 20),
    KIB("KiB", 10);

    private final String title;
    private final double size;

    Unit(String title, int power) {
      this.title = title;
      this.size = 1L << power;
    }

    static Unit of(long bytes) {
      return bytes >= GIB.size ? GIB : bytes >= MIB.size ? MIB : KIB;
    }
  }

  private BytesChart() {}

  static ReportSection section(Evaluation evaluation) {
    List<Row> drawn =
        evaluation.rows().stream().filter(row -> row.footprint().kvBytes() > 0).toList();
    List<Part> parts =
        PARTS.stream().filter(part -> drawn.stream().anyMatch(row -> part.of(row) > 0)).toList();
    ChartLegend legend = new ChartLegend();
    parts.forEach(part -> legend.box(part.name(), part.colour()));
    long most = drawn.stream().mapToLong(row -> row.footprint().kvBytes()).max().orElse(0);
    Unit unit = Unit.of(most);
    String title = "KV cache, in " + unit.title;
    return new ReportSection(
        "bytes",
        "Where the bytes are",
        "What each cache had allocated at the end of the text, which all rows read to the same"
            + " length.",
        legend,
        false,
        drawn.isEmpty()
            ? List.of()
            : List.of(new Panel(title, "", picture(title, drawn, parts, most, unit))));
  }

  private static SvgPicture picture(
      String title, List<Row> drawn, List<Part> parts, long most, Unit unit) {
    int height = ROW_HEIGHT * drawn.size() + 2 * ChartText.LINE;
    SvgPicture picture = new SvgPicture(title, WIDTH, height);
    double right = WIDTH - 8 - ChartText.width(List.of(ChartText.digits(most / unit.size)));
    Axis axis = new Axis(most / unit.size, 8, right);
    for (double tick : axis.ticks()) {
      picture.text(axis.at(tick), height - 8, "middle", Axis.label(tick));
    }
    for (int i = 0; i < drawn.size(); i++) {
      row(picture, drawn.get(i), parts, axis, i * ROW_HEIGHT, unit);
    }
    return picture;
  }

  /** Names are above their bars: next to them, long ones would fill a phone's width. */
  private static void row(
      SvgPicture picture, Row row, List<Part> parts, Axis axis, double top, Unit unit) {
    double y = top + ChartText.LINE + 4;
    picture.text(axis.from(), top + ChartText.LINE, "start", ChartText.cut(row.spec(), WIDTH - 16));
    double before = 0;
    for (Part part : parts) {
      double size = part.of(row) / unit.size;
      if (size > 0) {
        picture
            .begin(
                "%s, %s tokens%n%s: %s %s"
                    .formatted(
                        row.spec(),
                        ChartText.count(row.footprint().tokens()),
                        part.name(),
                        ChartText.digits(size),
                        unit.title))
            .bar(
                axis.at(before), y, axis.at(before + size) - axis.at(before), BAR, part.colour(), 1)
            .end();
      }
      before += size;
    }
    picture.text(
        axis.at(before) + 5,
        y + BAR - 3,
        "start",
        ChartText.digits(row.footprint().kvBytes() / unit.size));
  }
}

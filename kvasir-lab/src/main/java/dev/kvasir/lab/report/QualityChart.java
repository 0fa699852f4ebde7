package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.ScoreComparison;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.ReportSection.Panel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** Charts of a score against bits per value, one for each task. */
final class QualityChart {
  private static final int WIDTH = 380;
  private static final int HEIGHT = 280;

  private final Evaluation evaluation;
  private final List<Row> rows;

  private QualityChart(Evaluation evaluation) {
    this.evaluation = evaluation;
    this.rows = evaluation.rows();
  }

  static ReportSection section(Evaluation evaluation) {
    QualityChart chart = new QualityChart(evaluation);
    return new ReportSection(
        "quality",
        "Quality against size",
        "All bytes of a cache count: codes, scales, the recent tokens in full precision. Bars are"
            + " 95 % intervals. A filled mark differs from fp16 beyond sampling error, a hollow one"
            + " does not.",
        chart.legend(),
        false,
        chart.panels());
  }

  private List<Panel> panels() {
    List<Panel> panels = new ArrayList<>();
    for (Task task : evaluation.settings().tasks()) {
      List<Row> drawn = rows.stream().filter(row -> isDrawable(row, task)).toList();
      if (!drawn.isEmpty()) {
        panels.add(new Panel(title(task), hint(task), picture(task, drawn)));
      }
    }
    return panels;
  }

  private ChartLegend legend() {
    ChartLegend legend =
        new ChartLegend()
            .line(
                evaluation.reference().spec(),
                RowStyle.REFERENCE,
                RowStyle.REFERENCE_DASH,
                ChartLegend.mark(RowStyle.REFERENCE));
    for (String method : RowStyle.methods(rows)) {
      Row first =
          rows.stream()
              .skip(1)
              .filter(row -> RowStyle.method(row).equals(method))
              .findFirst()
              .orElseThrow();
      RowStyle style = RowStyle.of(first, rows);
      legend.line(method, style, "", ChartLegend.mark(style));
    }
    return legend;
  }

  private static String title(Task task) {
    return switch (task) {
      case PPL -> "Perplexity";
      case KLD -> "KL divergence from fp16, in nats";
      case PROSE -> "KL divergence on a novel, in nats";
      case DRIFT -> "KL divergence of generated text, in nats";
      case NEEDLE -> "Secret numbers found";
      case RECORDS -> "Table look-ups right";
      case CHAIN -> "Programs right to the last line";
      case JSONL -> "Questions answered right";
    };
  }

  private static String hint(Task task) {
    return task.higherIsBetter()
        ? "higher is better"
        : task.isDistance() ? "lower is better, logarithmic" : "lower is better";
  }

  /** A logarithmic axis cannot show fp16's zero distance from itself. */
  private static boolean isDrawable(Row row, Task task) {
    if (!row.scores().containsKey(task) || !(row.footprint().bitsPerValue() > 0)) {
      return false;
    }
    double value = row.scores().get(task).estimate().value();
    return task.isDistance() ? value > 0 : !Double.isNaN(value);
  }

  private SvgPicture picture(Task task, List<Row> drawn) {
    SvgPicture picture = new SvgPicture(title(task), WIDTH, HEIGHT);
    ScoreAxis scores = ScoreAxis.of(task, drawn);
    ChartFrame frame = ChartFrame.of(WIDTH, HEIGHT, scores.labels());
    ToDoubleFunction<Double> up = value -> scores.at(value, frame);
    frame.levels(picture, scores.ticks().stream().mapToDouble(up).toArray(), scores.labels());
    LogAxis bits = bits(frame);
    List<Integer> powers = powers(bits);
    frame.below(
        picture,
        powers.stream().mapToDouble(bits::at).toArray(),
        powers.stream().map(power -> "" + power).toList(),
        "bits per value, all overheads included");
    drawn.stream()
        .filter(row -> row == evaluation.reference())
        .map(row -> up.applyAsDouble(row.scores().get(task).estimate().value()))
        .forEach(
            y -> picture.dashes(frame.left(), y, frame.right(), y, RowStyle.REFERENCE.colour()));
    for (String method : RowStyle.methods(rows)) {
      List<double[]> places =
          drawn.stream()
              .filter(row -> row != evaluation.reference() && RowStyle.method(row).equals(method))
              .sorted(Comparator.comparingDouble(row -> row.footprint().bitsPerValue()))
              .map(row -> place(row, task, bits, up))
              .toList();
      if (places.size() > 1) {
        picture.polyline(places, RowStyle.colour(method, rows), 2, 1);
      }
    }
    drawn.forEach(row -> mark(picture, row, task, bits, up));
    return picture;
  }

  private static double[] place(Row row, Task task, LogAxis bits, ToDoubleFunction<Double> up) {
    return new double[] {
      bits.at(row.footprint().bitsPerValue()),
      up.applyAsDouble(row.scores().get(task).estimate().value())
    };
  }

  private void mark(
      SvgPicture picture, Row row, Task task, LogAxis bits, ToDoubleFunction<Double> up) {
    Estimate estimate = row.scores().get(task).estimate();
    RowStyle style = RowStyle.of(row, rows);
    double[] place = place(row, task, bits, up);
    picture.begin(tip(row, task, estimate));
    if (estimate.low() < estimate.high()) {
      picture.interval(
          place[0],
          up.applyAsDouble(estimate.low()),
          up.applyAsDouble(estimate.high()),
          style.colour());
    }
    picture
        .mark(
            place[0],
            place[1],
            style.shape(),
            isApart(row, task) ? style.colour() : "var(--surface)",
            style.colour())
        .end();
  }

  private boolean isApart(Row row, Task task) {
    ScoreComparison comparison = row.comparisons().get(task);
    return row == evaluation.reference()
        || comparison == null
        || comparison.fromReference().verdict() != Verdict.WITHIN_ERROR;
  }

  private static String tip(Row row, Task task, Estimate estimate) {
    int scale = task.higherIsBetter() ? 100 : 1;
    String interval =
        Double.isNaN(estimate.low())
            ? ""
            : ", 95 %%: %s to %s"
                .formatted(
                    ChartText.digits(scale * estimate.low()),
                    ChartText.digits(scale * estimate.high()));
    return String.format(
        Locale.ROOT,
        "%s%n%s%s%s%n%.2f bits per value",
        row.spec(),
        ChartText.digits(scale * estimate.value()),
        task.higherIsBetter() ? " %" : "",
        interval,
        row.footprint().bitsPerValue());
  }

  /**
   * From a power of two to just beyond the largest row, equal for adjacent charts. An incomplete
   * block makes fp16 a little larger than 16 bits.
   */
  private LogAxis bits(ChartFrame frame) {
    double[] sizes =
        rows.stream()
            .mapToDouble(row -> row.footprint().bitsPerValue())
            .filter(b -> b > 0)
            .toArray();
    double from = Math.pow(2, Math.floor(log2(DoubleStream.of(sizes).min().orElseThrow())));
    double to = 1.08 * DoubleStream.of(sizes).max().orElseThrow();
    return new LogAxis(to > 2 * from ? from : from / 2, to, frame.left(), frame.right());
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }

  private static List<Integer> powers(LogAxis bits) {
    List<Integer> powers = new ArrayList<>();
    for (int power = 1; power <= bits.most(); power *= 2) {
      if (power >= bits.least()) {
        powers.add(power);
      }
    }
    return powers;
  }
}

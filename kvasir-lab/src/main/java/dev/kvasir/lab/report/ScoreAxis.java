package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Task;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The upright axis of a task's scores: shares from 0 to 1, whole decades of divergences, or the
 * range of perplexities.
 */
record ScoreAxis(boolean isLogarithmic, boolean isShare, double least, double most) {
  static ScoreAxis of(Task task, List<Row> rows) {
    if (task.higherIsBetter()) {
      return new ScoreAxis(false, true, 0, 1);
    }
    double[] values =
        rows.stream()
            .map(row -> row.scores().get(task).estimate())
            .flatMapToDouble(ScoreAxis::values)
            .toArray();
    return task.isDistance() ? decades(values) : linear(values);
  }

  private static DoubleStream values(Estimate estimate) {
    return DoubleStream.of(estimate.low(), estimate.value(), estimate.high())
        .filter(value -> !Double.isNaN(value));
  }

  /** Whole powers of ten around the positive values, so that the axis ends on labels. */
  static ScoreAxis decades(double[] values) {
    double[] positive = DoubleStream.of(values).filter(value -> value > 0).toArray();
    double least = DoubleStream.of(positive).min().orElseThrow();
    double most = DoubleStream.of(positive).max().orElseThrow();
    int first = (int) Math.floor(Math.log10(least));
    int last = Math.max(first + 1, (int) Math.ceil(Math.log10(most)));
    return new ScoreAxis(true, false, Math.pow(10, first), Math.pow(10, last));
  }

  private static ScoreAxis linear(double[] values) {
    double least = DoubleStream.of(values).min().orElseThrow();
    double most = DoubleStream.of(values).max().orElseThrow();
    double room = most > least ? 0.08 * (most - least) : Math.max(1, Math.abs(most)) / 10;
    return new ScoreAxis(false, false, least - room, most + room);
  }

  List<Double> ticks() {
    if (isLogarithmic) {
      return IntStream.rangeClosed(
              (int) Math.round(Math.log10(least)), (int) Math.round(Math.log10(most)))
          .mapToObj(power -> Math.pow(10, power))
          .toList();
    }
    return isShare ? List.of(0.0, 0.25, 0.5, 0.75, 1.0) : new Axis(least, most, 0, 1).ticks();
  }

  List<String> labels() {
    return ticks().stream()
        .map(tick -> isShare ? ChartText.percent(tick) : ChartText.digits(tick))
        .toList();
  }

  /** Returns the height of a value; what a logarithmic axis cannot show is at its lower end. */
  double at(double value, ChartFrame frame) {
    return isLogarithmic
        ? new LogAxis(least, most, frame.bottom(), frame.top()).at(Math.max(value, least))
        : new Axis(least, most, frame.bottom(), frame.top()).at(value);
  }
}

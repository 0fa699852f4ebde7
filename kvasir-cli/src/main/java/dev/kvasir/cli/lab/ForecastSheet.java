package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.lab.forecast.Speeds;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints the cost of a calibration. */
final class ForecastSheet {
  private static final List<Integer> MACHINES = List.of(4, 16, 64);

  private final FactSheet sheet;
  private final Forecast forecast;
  private final Speeds speeds;
  private final Concurrency concurrency;

  /**
   * @param speeds of one task's threads
   */
  ForecastSheet(FactSheet sheet, Forecast forecast, Speeds speeds, Concurrency concurrency) {
    this.sheet = sheet;
    this.forecast = forecast;
    this.speeds = speeds;
    this.concurrency = concurrency;
  }

  /**
   * @param maxHeap bytes that Java may use
   * @param out file of the result; null if there is none
   */
  void print(long maxHeap, Path out) {
    work();
    memory(maxHeap);
    sheet.line(
        "disk",
        Units.bytes(forecast.diskBytes())
            + (out == null
                ? ""
                : " beside %s (%s are free)"
                    .formatted(out, Units.bytes(Forecast.freeDiskBytes(out)))));
    sheet.line("speed", "in billions of operations a second: " + rates());
  }

  private void work() {
    for (ForecastStage stage : forecast.stages()) {
      sheet.line(
          stage.name().substring(0, stage.name().indexOf(' ')),
          "%s, %s, %s"
              .formatted(
                  stage.name().substring(stage.name().indexOf(' ') + 1),
                  operations(stage.operations()),
                  time(
                      stage.seconds(
                          speeds.of(stage.kind()), speeds.threads(), concurrency.tasks()))));
    }
    String further =
        MACHINES.stream()
            .map(machines -> "%s on %d".formatted(time(machines), machines))
            .collect(Collectors.joining(", "));
    sheet.line(
        "in all",
        "%s on %d threads; with more such machines %s"
            .formatted(time(1), concurrency.allThreads(), further));
  }

  private String time(int machines) {
    return time(forecast.seconds(speeds, machines * concurrency.tasks()));
  }

  private static String time(double seconds) {
    return Units.duration(seconds);
  }

  private static String operations(double count) {
    return String.format(Locale.ROOT, "%,.0f billion operations", Math.max(1, count / 1e9));
  }

  private void memory(long maxHeap) {
    sheet.line(
        "memory",
        "%s of heap (Java may use %s), %s outside it, weights on top"
            .formatted(
                Units.bytes(forecast.heapBytes()),
                Units.bytes(maxHeap),
                Units.bytes(forecast.offHeapBytes())));
  }

  private String rates() {
    return forecast.computeKinds().stream()
        .map(
            kind ->
                String.format(
                    Locale.ROOT,
                    "%s %.1f",
                    kind.name().toLowerCase(Locale.ROOT),
                    concurrency.tasks() * speeds.of(kind) / 1e9))
        .collect(Collectors.joining(", "));
  }
}

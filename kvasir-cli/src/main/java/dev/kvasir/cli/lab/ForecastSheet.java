package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.lab.forecast.AtATime;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.Speeds;
import dev.kvasir.lab.forecast.Stage;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Says what a work of the lab takes. */
final class ForecastSheet {
  private static final List<Integer> MACHINES = List.of(4, 16, 64);

  private final FactSheet sheet;
  private final Forecast forecast;
  private final Speeds speeds;
  private final AtATime atATime;

  /**
   * @param speeds of a piece's threads
   */
  ForecastSheet(FactSheet sheet, Forecast forecast, Speeds speeds, AtATime atATime) {
    this.sheet = sheet;
    this.forecast = forecast;
    this.speeds = speeds;
    this.atATime = atATime;
  }

  /**
   * @param mostHeap bytes that Java may use
   * @param out where the result goes; null where it goes nowhere
   */
  void tell(long mostHeap, Path out) {
    work();
    memory(mostHeap);
    sheet.line(
        "disk",
        Units.bytes(forecast.disk())
            + (out == null
                ? ""
                : " beside %s (%s are free)"
                    .formatted(out, Units.bytes(Forecast.freeBeside(out)))));
    sheet.line("speed", "in billions of operations a second: " + rates());
  }

  private void work() {
    for (Stage stage : forecast.stages()) {
      sheet.line(
          stage.name().substring(0, stage.name().indexOf(' ')),
          "%s, %s, %s"
              .formatted(
                  stage.name().substring(stage.name().indexOf(' ') + 1),
                  operations(stage.operations()),
                  time(
                      stage.seconds(
                          speeds.of(stage.effort()), speeds.threads(), atATime.pieces()))));
    }
    String further =
        MACHINES.stream()
            .map(machines -> "%s on %d".formatted(time(machines), machines))
            .collect(Collectors.joining(", "));
    sheet.line(
        "in all",
        "%s on %d threads; with more such machines %s"
            .formatted(time(1), atATime.allThreads(), further));
  }

  private String time(int machines) {
    return time(forecast.seconds(speeds, machines * atATime.pieces()));
  }

  private static String time(double seconds) {
    return Units.duration(seconds);
  }

  private static String operations(double count) {
    return String.format(Locale.ROOT, "%,.0f billion operations", Math.max(1, count / 1e9));
  }

  private void memory(long mostHeap) {
    sheet.line(
        "memory",
        "%s of heap (Java may use %s), %s outside it, weights on top"
            .formatted(
                Units.bytes(forecast.heap()),
                Units.bytes(mostHeap),
                Units.bytes(forecast.outside())));
  }

  private String rates() {
    return forecast.efforts().stream()
        .map(
            effort ->
                String.format(
                    Locale.ROOT,
                    "%s %.1f",
                    effort.name().toLowerCase(Locale.ROOT),
                    atATime.pieces() * speeds.of(effort) / 1e9))
        .collect(Collectors.joining(", "));
  }
}

package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.bench.StreamTrace.Event;
import dev.kvasir.bench.StreamTrace.Kind;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class GapReportTest {
  private static final long MS = 1_000_000;

  private final List<Event> events =
      List.of(
          new Event(Kind.STEP, 0, 2 * MS, 6),
          new Event(Kind.STEP, 2 * MS, 11 * MS, 40),
          new Event(Kind.PACKING, 12 * MS, 18 * MS, 0),
          new Event(Kind.STEP, 12 * MS, 20 * MS, 5),
          new Event(Kind.STEP, 21 * MS, 29 * MS, 6),
          new Event(Kind.COLLECTOR, 22 * MS, 28 * MS, 0),
          new Event(Kind.STEP, 38 * MS, 39 * MS, 6));

  private final GapReport report =
      GapReport.of(
          new UsualGap(0, 2, 1000, 2),
          0,
          List.of(0L, 2 * MS, 11 * MS, 20 * MS, 30 * MS, 40 * MS),
          events);

  @Test
  void aGapIsPutDownToWhatFilledMostOfItBeyondAUsualStep() {
    assertThat(report.gaps().stream().map(gap -> gap.cause()).skip(1))
        .containsExactly(Kind.STEP, Kind.PACKING, Kind.COLLECTOR, Kind.REST);
  }

  @Test
  void whatIsUsualGrowsWithTheLengthOfTheStream() {
    UsualGap usual = new UsualGap(100, 2, 300, 6);
    assertThat(List.of(usual.at(50), usual.at(100), usual.at(200), usual.at(300), usual.at(900)))
        .containsExactly(2.0, 2.0, 4.0, 6.0, 6.0);
  }

  @Test
  void theReportSaysHowManyGapsThereWereAndWhatTheLongestWereMadeOf() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    report.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .contains("of 5 gaps", "median 4.5 (9.00 ms)", "slowest 5.0 (10.00)")
        .contains(
            "4 beyond 3 times the usual one, mostly by: a step 1, packing its own pages 1,"
                + " the garbage collector 1, between steps 1")
        .contains("9.00 ms: a step 9.00, up to 40 rows a step");
  }

  @Test
  void theProcessTellsWhatItHoldsBesideWeightsAndCaches() {
    ProcessMemory now = ProcessMemory.now(3 << 20, 2 << 20);
    now.resident()
        .ifPresent(
            bytes -> assertThat(now.constant()).hasValue(bytes - now.weights() - now.caches()));
    assertThat(now.text()).contains("threads").contains("heap");
  }
}

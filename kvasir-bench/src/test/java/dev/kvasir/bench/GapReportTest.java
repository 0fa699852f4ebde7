package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.bench.StreamTrace.Kind;
import dev.kvasir.bench.StreamTrace.TraceEvent;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class GapReportTest {
  private static final long MS = 1_000_000;

  private final List<TraceEvent> events =
      List.of(
          new TraceEvent(Kind.STEP, 0, 2 * MS, 1, 5, 0),
          new TraceEvent(Kind.STEP, 2 * MS, 11 * MS, 1, 39, 0),
          TraceEvent.of(Kind.PACKING, 12 * MS, 18 * MS),
          new TraceEvent(Kind.STEP, 12 * MS, 20 * MS, 1, 4, 0),
          new TraceEvent(Kind.STEP, 21 * MS, 29 * MS, 1, 5, 0),
          TraceEvent.of(Kind.COLLECTOR, 22 * MS, 28 * MS),
          new TraceEvent(Kind.STEP, 38 * MS, 39 * MS, 1, 5, 0));

  private final GapReport report =
      GapReport.of(
          new BaselineGap(0, 2, 1000, 2),
          0,
          List.of(0L, 2 * MS, 11 * MS, 20 * MS, 30 * MS, 40 * MS),
          events);

  @Test
  void aGapIsAttributedToItsLargestPartBeyondABaselineStep() {
    assertThat(report.gaps().stream().map(gap -> gap.cause()).skip(1))
        .containsExactly(Kind.STEP, Kind.PACKING, Kind.COLLECTOR, Kind.REST);
  }

  @Test
  void aStepIsDistinguishedFromOneDuringAPromptsQuantization() {
    List<TraceEvent> events =
        List.of(
            new TraceEvent(Kind.STEP, 0, 9 * MS, 1, 3, 0),
            TraceEvent.of(Kind.BESIDE_PACKING, MS, 8 * MS),
            TraceEvent.of(Kind.BESIDE_PACKING, 10 * MS, 11 * MS));
    GapReport gaps = GapReport.of(new BaselineGap(0, 2, 1000, 2), 0, List.of(0L, 10 * MS), events);
    assertThat(gaps.gaps().getFirst().cause()).isEqualTo(Kind.BESIDE_PACKING);
    assertThat(gaps.gaps().getFirst().millis())
        .containsEntry(Kind.STEP, 2.0)
        .containsEntry(Kind.BESIDE_PACKING, 7.0);
  }

  @Test
  void schedulerGapsAreBetweenTheEndsOfStepsWithStreamRows() {
    List<TraceEvent> steps =
        List.of(
            new TraceEvent(Kind.STEP, 0, 2 * MS, 1, 0, 700),
            new TraceEvent(Kind.STEP, 2 * MS, 5 * MS, 0, 9, -1),
            new TraceEvent(Kind.STEP, 5 * MS, 8 * MS, 1, 2, 701));
    GapReport loop =
        GapReport.inScheduler(new BaselineGap(0, 2, 1000, 2), 0, Long.MAX_VALUE, steps);
    assertThat(loop.gaps().stream().map(GapReport.Gap::ratio)).containsExactly(3.0);
  }

  @Test
  void theBaselineGrowsWithTheLengthOfTheStream() {
    BaselineGap baseline = new BaselineGap(100, 2, 300, 6);
    assertThat(
            List.of(
                baseline.at(50),
                baseline.at(100),
                baseline.at(200),
                baseline.at(300),
                baseline.at(900)))
        .containsExactly(2.0, 2.0, 4.0, 6.0, 6.0);
  }

  @Test
  void theReportHasTheGapCountAndTheCausesOfTheLongest() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    report.printTimes("at the client", out);
    report.printCauses(out);
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .contains(
            "at the client, of 5 gaps", "median 4.5 (9.00 ms)", "slowest 5.0 (10.00), 4 beyond 3")
        .contains(
            "4 beyond 3 times the usual one, mostly by: a step 1, a step while a prompt was"
                + " packed 0, packing its own pages 1, the garbage collector 1, between steps 1")
        .contains("9.00 ms: a step 9.00, up to 40 rows a step");
  }

  @Test
  void theProcessReportsItsMemoryBeyondWeightsAndCaches() {
    ProcessMemory now = ProcessMemory.now(3 << 20, 2 << 20);
    now.resident()
        .ifPresent(
            bytes ->
                assertThat(now.rest()).hasValue(bytes - now.weights() - now.caches() - now.heap()));
    assertThat(now.text()).contains("threads").contains("heap");
  }
}

package dev.kvasir.bench;

import dev.kvasir.bench.StreamTrace.Kind;
import dev.kvasir.bench.StreamTrace.TraceEvent;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** The gaps between a stream's tokens, and the causes of long ones. */
record GapReport(List<Gap> gaps) {
  /** A gap longer than this multiple of the baseline counts as long. */
  private static final double LONG = 3;

  private static final int SHOWN = 5;

  /**
   * One gap.
   *
   * @param baseline milliseconds of a gap at the same length on an idle server
   * @param millis by cause
   * @param rows of the largest step in it
   */
  record Gap(long begin, long end, double baseline, Map<Kind, Double> millis, int rows) {
    double length() {
      return (end - begin) / 1e6;
    }

    double ratio() {
      return length() / baseline;
    }

    /** Returns the main cause beyond a baseline step, which every gap contains. */
    Kind cause() {
      Map<Kind, Double> beyond = new EnumMap<>(millis);
      beyond.merge(Kind.STEP, -baseline, Double::sum);
      return beyond.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
    }
  }

  /**
   * @param tokens that the stream had at the first arrival
   */
  static GapReport of(
      BaselineGap baseline, int tokens, List<Long> arrivals, List<TraceEvent> events) {
    List<Gap> gaps = new ArrayList<>();
    for (int i = 1; i < arrivals.size(); i++) {
      gaps.add(gap(arrivals.get(i - 1), arrivals.get(i), baseline.at(tokens + i), events));
    }
    return new GapReport(gaps);
  }

  /**
   * Returns the gaps at the scheduler: between the ends of consecutive steps with a row of a
   * stream. What a client sees in addition was lost in transit.
   *
   * @param until end of the stream; later steps with such a row are those of the prompts' readers
   */
  static GapReport inScheduler(
      BaselineGap baseline, long from, long until, List<TraceEvent> events) {
    List<TraceEvent> steps = streamSteps(from, until, events);
    List<Long> ends = steps.stream().map(TraceEvent::end).toList();
    return of(baseline, steps.isEmpty() ? 0 : steps.getFirst().streamTokens(), ends, events);
  }

  /**
   * Returns the same gaps in processor time of all threads, which other load on the machine
   * disturbs less.
   */
  static GapReport inProcessorTime(
      BaselineGap baseline, long from, long until, List<TraceEvent> events) {
    List<TraceEvent> steps = streamSteps(from, until, events);
    List<Long> ends = steps.stream().map(TraceEvent::cpuEnd).toList();
    return of(baseline, steps.isEmpty() ? 0 : steps.getFirst().streamTokens(), ends, List.of());
  }

  /** Returns the median processor time between steps with a row of a stream, in milliseconds. */
  static double medianProcessorMillis(long from, long until, List<TraceEvent> events) {
    List<TraceEvent> steps = streamSteps(from, until, events);
    return Race.median(
        IntStream.range(1, steps.size())
            .mapToDouble(i -> (steps.get(i).cpuEnd() - steps.get(i - 1).cpuEnd()) / 1e6)
            .toArray());
  }

  private static List<TraceEvent> streamSteps(long from, long until, List<TraceEvent> events) {
    return events.stream()
        .filter(event -> event.streamRows() > 0 && event.end() >= from && event.end() <= until)
        .sorted(Comparator.comparingLong(TraceEvent::end))
        .toList();
  }

  /** Attributes a gap to its causes. A pause also stops a step and is counted once. */
  private static Gap gap(long begin, long end, double baseline, List<TraceEvent> events) {
    Map<Kind, Double> millis = new EnumMap<>(Kind.class);
    int rows = 0;
    for (TraceEvent event : events) {
      long within = event.within(begin, end);
      if (within > 0) {
        millis.merge(event.kind(), within / 1e6, Double::sum);
        rows = Math.max(rows, event.rows());
      }
    }
    double paused = millis.getOrDefault(Kind.COLLECTOR, 0.0);
    millis.computeIfPresent(Kind.STEP, (kind, all) -> Math.max(0, all - paused));
    double concurrent =
        Math.min(
            millis.getOrDefault(Kind.STEP, 0.0), millis.getOrDefault(Kind.BESIDE_PACKING, 0.0));
    millis.computeIfPresent(Kind.STEP, (kind, all) -> all - concurrent);
    millis.computeIfPresent(Kind.BESIDE_PACKING, (kind, all) -> concurrent);
    // Other sequences make steps while a stream quantizes.
    double quantizing = millis.getOrDefault(Kind.PACKING, 0.0);
    millis.computeIfPresent(Kind.STEP, (kind, all) -> Math.max(0, all - quantizing));
    double known = millis.values().stream().mapToDouble(Double::doubleValue).sum();
    millis.put(Kind.REST, Math.max(0, (end - begin) / 1e6 - known));
    return new Gap(begin, end, baseline, millis, rows);
  }

  /** Returns the gap at a quantile of the ratios to the baseline. */
  private static Gap percentile(double share, List<Gap> sorted) {
    return sorted.get((int) (share * (sorted.size() - 1)));
  }

  /** Prints the distribution of gaps and the number of long ones. */
  void printTimes(String where, PrintStream out) {
    if (gaps.isEmpty()) {
      return;
    }
    List<Gap> sorted = gaps.stream().sorted(Comparator.comparingDouble(Gap::ratio)).toList();
    out.printf(
        Locale.ROOT,
        "  %s, of %d gaps, in times of one alone at that length: median %.1f (%.2f ms), 99th of a"
            + " hundred %.1f (%.2f), 999th of a thousand %.1f (%.2f), slowest %.1f (%.2f), %d"
            + " beyond %.0f%n",
        where,
        gaps.size(),
        percentile(0.5, sorted).ratio(),
        percentile(0.5, sorted).length(),
        percentile(0.99, sorted).ratio(),
        percentile(0.99, sorted).length(),
        percentile(0.999, sorted).ratio(),
        percentile(0.999, sorted).length(),
        percentile(1, sorted).ratio(),
        percentile(1, sorted).length(),
        slow().size(),
        LONG);
  }

  /** Returns the long gaps, longest first. */
  private List<Gap> slow() {
    return gaps.stream()
        .filter(gap -> gap.ratio() > LONG)
        .sorted(Comparator.comparingDouble(Gap::ratio).reversed())
        .toList();
  }

  /** Prints the causes of long gaps. */
  void printCauses(PrintStream out) {
    List<Gap> slow = slow();
    out.printf(Locale.ROOT, "  %d beyond %.0f times the usual one, mostly by:", slow.size(), LONG);
    for (Kind kind : Kind.values()) {
      long count = slow.stream().filter(gap -> gap.cause() == kind).count();
      out.printf(" %s %d%s", kind.words, count, kind == Kind.REST ? "\n" : ",");
    }
    slow.stream().limit(SHOWN).forEach(gap -> print(gap, out));
  }

  private void print(Gap gap, PrintStream out) {
    out.printf(Locale.ROOT, "  %10.2f ms:", gap.length());
    Arrays.stream(Kind.values())
        .filter(kind -> gap.millis().getOrDefault(kind, 0.0) >= 0.01)
        .forEach(kind -> out.printf(Locale.ROOT, " %s %.2f,", kind.words, gap.millis().get(kind)));
    out.printf(" up to %d rows a step%n", gap.rows());
  }
}

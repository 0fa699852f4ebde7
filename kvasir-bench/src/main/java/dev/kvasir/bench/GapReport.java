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

/** The gaps between a stream's tokens, and what filled those that were long. */
record GapReport(List<Gap> gaps) {
  /** Times the usual gap, beyond which one counts as long. */
  private static final double LONG = 3;

  private static final int SHOWN = 5;

  /**
   * One gap.
   *
   * @param usual milliseconds of one at the same length while nothing else is done
   * @param millis by what it was filled with
   * @param rows of the largest step in it
   */
  record Gap(long begin, long end, double baseline, Map<Kind, Double> millis, int rows) {
    double length() {
      return (end - begin) / 1e6;
    }

    double ratio() {
      return length() / baseline;
    }

    /** What it was filled with, but for a step of usual length, which every gap has. */
    Kind cause() {
      Map<Kind, Double> beyond = new EnumMap<>(millis);
      beyond.merge(Kind.STEP, -baseline, Double::sum);
      return beyond.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
    }
  }

  /**
   * @param tokens that the stream had when the first of the arrivals came
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
   * The same gaps where they begin: from the end of one step that a stream had a row in to that of
   * the next. What is longer at the client was lost on the way there.
   */
  static GapReport inScheduler(BaselineGap baseline, long from, List<TraceEvent> events) {
    List<TraceEvent> steps =
        events.stream()
            .filter(event -> event.streamRows() > 0 && event.end() >= from)
            .sorted(Comparator.comparingLong(TraceEvent::end))
            .toList();
    List<Long> ends = steps.stream().map(TraceEvent::end).toList();
    return of(baseline, steps.isEmpty() ? 0 : steps.getFirst().streamTokens(), ends, events);
  }

  /** A pause stops a step as well: it is not counted twice. */
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
    double beside =
        Math.min(
            millis.getOrDefault(Kind.STEP, 0.0), millis.getOrDefault(Kind.BESIDE_PACKING, 0.0));
    millis.computeIfPresent(Kind.STEP, (kind, all) -> all - beside);
    millis.computeIfPresent(Kind.BESIDE_PACKING, (kind, all) -> beside);
    // Others step while a stream packs.
    double packed = millis.getOrDefault(Kind.PACKING, 0.0);
    millis.computeIfPresent(Kind.STEP, (kind, all) -> Math.max(0, all - packed));
    double known = millis.values().stream().mapToDouble(Double::doubleValue).sum();
    millis.put(Kind.REST, Math.max(0, (end - begin) / 1e6 - known));
    return new Gap(begin, end, baseline, millis, rows);
  }

  /** The gap that so many of all are shorter than, in times of the usual one. */
  private static Gap percentile(double share, List<Gap> sorted) {
    return sorted.get((int) (share * (sorted.size() - 1)));
  }

  /** How long gaps were, and how many were long. */
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

  /** The longest first. */
  private List<Gap> slow() {
    return gaps.stream()
        .filter(gap -> gap.ratio() > LONG)
        .sorted(Comparator.comparingDouble(Gap::ratio).reversed())
        .toList();
  }

  /** What those that were long were filled with. */
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

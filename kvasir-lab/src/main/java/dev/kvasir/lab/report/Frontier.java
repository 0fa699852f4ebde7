package dev.kvasir.lab.report;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Task;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * The trade-off of bits against divergence from fp16 on prose, for all measured rows of {@link
 * StandardTable#ALTERNATIVES}.
 *
 * @param points distinct caches
 * @param floor divergence of an fp32 cache, which comes from activation rounding; empty if not
 *     measured
 * @param tokens tokens of the text
 */
public record Frontier(List<Point> points, OptionalDouble floor, int tokens) {
  private static final String REFERENCE = "fp16";
  private static final String EXACT = "fp32";

  /** A suffix that all rows share; labels omit it. */
  private static final String COMMON = ",sinks=16";

  /**
   * A cache.
   *
   * @param spec cache spec as typed
   * @param bits bits per element with all overheads
   */
  record Point(String spec, double bits, double divergence) {
    String method() {
      return spec.split("[:,]", 2)[0];
    }

    String name() {
      return spec.replace(COMMON, "");
    }

    /** Returns whether this point is better in one respect and no worse in the other. */
    boolean dominates(Point other) {
      return bits <= other.bits
          && divergence <= other.divergence
          && (bits < other.bits || divergence < other.divergence);
    }
  }

  /**
   * @param folder folder with the measurements of comparisons
   */
  public static Frontier of(Path folder) {
    Map<String, Row> rows = new LinkedHashMap<>();
    for (StandardTable table : StandardTable.ALTERNATIVES) {
      MeasurementsFile.read(folder.resolve(table.name() + ".json"))
          .flatMap(MeasurementsFile::evaluation)
          .map(EvaluationJson::rowsByRequest)
          .ifPresent(found -> found.forEach(rows::putIfAbsent));
    }
    List<Point> points = new ArrayList<>();
    rows.forEach(
        (spec, row) -> {
          double divergence = divergence(row);
          if (divergence > 0 && !isReference(spec)) {
            points.add(new Point(spec, row.footprint().bitsPerValue(), divergence));
          }
        });
    if (points.isEmpty()) {
      throw new InvalidInputException(
          "%s: holds no divergence on prose; expected %s".formatted(folder, names()));
    }
    double floor = rows.containsKey(EXACT) ? divergence(rows.get(EXACT)) : 0;
    int tokens = rows.values().stream().mapToInt(row -> row.footprint().tokens()).max().orElse(0);
    return new Frontier(
        List.copyOf(points), floor > 0 ? OptionalDouble.of(floor) : OptionalDouble.empty(), tokens);
  }

  private static boolean isReference(String spec) {
    return spec.equals(REFERENCE) || spec.equals(EXACT);
  }

  private static String names() {
    return StandardTable.ALTERNATIVES.stream()
        .map(table -> table.name() + ".json")
        .collect(Collectors.joining(", "));
  }

  /** Returns 0 if it was not measured. */
  private static double divergence(Row row) {
    return row.scores().containsKey(Task.PROSE)
        ? row.scores().get(Task.PROSE).estimate().value()
        : 0;
  }

  /** Returns the points that no other point dominates, ordered by bits. */
  static List<Point> paretoFront(List<Point> points) {
    return points.stream()
        .filter(point -> points.stream().noneMatch(other -> other.dominates(point)))
        .sorted(Comparator.comparingDouble(Point::bits))
        .toList();
  }

  public void write(Path file) {
    AtomicFile.write(file, new FrontierPlot(this).svg());
  }
}

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
 * What every method makes of its bits: divergence from half precision on prose, of all rows that
 * have been measured of {@link StandardTable#ALTERNATIVES}.
 *
 * @param points kinds of cache, none twice
 * @param floor the divergence of a cache of 32-bit floats, which rounding of activations makes of
 *     differences in last bits; empty where it was not measured
 * @param tokens of the text
 */
public record Frontier(List<Point> points, OptionalDouble floor, int tokens) {
  private static final String REFERENCE = "fp16";
  private static final String EXACT = "fp32";

  /** What all rows have, and no name needs. */
  private static final String COMMON = ",sinks=16";

  /**
   * A kind of cache.
   *
   * @param spec as typed
   * @param bits of a number, with everything that the cache holds
   */
  record Point(String spec, double bits, double divergence) {
    String method() {
      return spec.split("[:,]", 2)[0];
    }

    String name() {
      return spec.replace(COMMON, "");
    }

    /** Whether it has less of one and no more of the other. */
    boolean dominates(Point other) {
      return bits <= other.bits
          && divergence <= other.divergence
          && (bits < other.bits || divergence < other.divergence);
    }
  }

  /**
   * @param folder of the figures that comparisons left
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

  /** 0 where it was not measured. */
  private static double divergence(Row row) {
    return row.scores().containsKey(Task.PROSE)
        ? row.scores().get(Task.PROSE).estimate().value()
        : 0;
  }

  /** Those of some points that no other of them beats, by bits. */
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

package dev.kvasir.lab.claim;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.report.MeasurementsFile;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** The measurements of an experiment: the rows of an evaluation, or numbers by name. */
final class Measurements {
  private final Path file;
  private final JsonObject all;
  private final Map<String, Row> rows = new HashMap<>(); // by spec, as typed and as named

  private Measurements(Path file, JsonObject all) {
    this.file = file;
    this.all = all;
    MeasurementsFile.evaluation(all)
        .ifPresent(
            evaluation -> {
              EvaluationJson.rows(evaluation).forEach(row -> rows.put(row.spec(), row));
              rows.putAll(EvaluationJson.rowsByRequest(evaluation));
            });
  }

  /** Returns empty if the experiment was never run. */
  static Optional<Measurements> read(Path file) {
    return MeasurementsFile.read(file).map(all -> new Measurements(file, all));
  }

  /** Returns the measurements of another experiment in the same folder. */
  Optional<Measurements> measurementsOf(Experiment other) {
    return read(other.file(file.toAbsolutePath().getParent()));
  }

  /** Returns the row of a cache. Files have the settings that a preset stands for. */
  Optional<Row> row(String spec) {
    String named = spec.contains(",as=") ? CacheSpec.parse(spec).text() : spec;
    return Optional.ofNullable(rows.get(named));
  }

  /** Returns a number by name, with its interval if the file has one. */
  Optional<Estimate> estimate(String name) {
    OptionalDouble value = number(name);
    return value.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Estimate(
                value.getAsDouble(),
                number(name + MeasurementsFile.LOW).orElse(Double.NaN),
                number(name + MeasurementsFile.HIGH).orElse(Double.NaN)));
  }

  private OptionalDouble number(String name) {
    JsonElement found = all.get(name);
    return found == null || found.isJsonNull()
        ? OptionalDouble.empty()
        : OptionalDouble.of(found.getAsDouble());
  }
}

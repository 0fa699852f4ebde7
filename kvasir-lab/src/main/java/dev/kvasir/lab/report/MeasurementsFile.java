package dev.kvasir.lab.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A JSON file with all values and samples of a table and their provenance. */
public final class MeasurementsFile {
  private static final String EVALUATION = "evaluation";

  /** A key that evaluations have and plain numbers lack. */
  private static final String ROWS = "rows";

  /** After the name of a number: the lower end of its 95% interval. */
  public static final String LOW = ", low";

  /** After the name of a number: the upper end of its 95% interval. */
  public static final String HIGH = ", high";

  private MeasurementsFile() {}

  /** Returns the file in a folder named after the document. */
  public static Path of(Path document, String table) {
    String name = document.getFileName().toString();
    int dot = name.lastIndexOf('.');
    Path folder = document.resolveSibling(dot > 0 ? name.substring(0, dot) : name + "-figures");
    return folder.resolve(table + ".json");
  }

  static void write(Path file, Evaluation evaluation, Provenance provenance) {
    JsonObject all = described(provenance);
    all.add(EVALUATION, EvaluationJson.tree(evaluation));
    write(file, all);
  }

  /** Writes numbers by name. */
  public static void write(Path file, Map<String, Double> numbers, Provenance provenance) {
    JsonObject all = described(provenance);
    new TreeMap<>(numbers).forEach(all::addProperty);
    write(file, all);
  }

  /** Adds a number with its interval, under the names by which the ledger finds them. */
  public static void put(Map<String, Double> numbers, String name, Estimate estimate) {
    numbers.put(name, estimate.value());
    if (!Double.isNaN(estimate.low()) && !Double.isNaN(estimate.high())) {
      numbers.put(name + LOW, estimate.low());
      numbers.put(name + HIGH, estimate.high());
    }
  }

  /** Returns the contents; empty if there is no file. */
  public static Optional<JsonObject> read(Path file) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      JsonObject all = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
      evaluation(all);
      return Optional.of(all);
    } catch (IOException | JsonParseException | IllegalStateException e) {
      throw new InvalidInputException("%s: holds no figures".formatted(file), e);
    }
  }

  /**
   * Returns the evaluation in the contents, if there is one: wrapped with its provenance, or alone
   * as written by 'kvasir eval --json'.
   */
  public static Optional<JsonObject> evaluation(JsonObject all) {
    if (all.has(ROWS)) {
      return Optional.of(all);
    }
    return Optional.ofNullable(all.get(EVALUATION)).map(JsonElement::getAsJsonObject);
  }

  private static JsonObject described(Provenance provenance) {
    JsonObject all = new JsonObject();
    all.addProperty("command", provenance.command());
    all.addProperty("version", provenance.version());
    provenance.commit().ifPresent(commit -> all.addProperty("commit", commit));
    all.addProperty("date", provenance.date());
    return all;
  }

  private static void write(Path file, JsonObject all) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    AtomicFile.write(file, all + "\n");
  }
}

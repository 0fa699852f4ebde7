package dev.kvasir.lab.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All figures and samples of a table as JSON, with where they come from, for what is said of them
 * elsewhere in the repository.
 */
public final class MeasurementsFile {
  private static final String EVALUATION = "evaluation";

  /** What an evaluation has and numbers by their names have not. */
  private static final String ROWS = "rows";

  private MeasurementsFile() {}

  /** In a folder that has the document's name. */
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

  /** Numbers by their names. */
  public static void write(Path file, Map<String, Double> numbers, Provenance provenance) {
    JsonObject all = described(provenance);
    new TreeMap<>(numbers).forEach(all::addProperty);
    write(file, all);
  }

  /** What was written; empty where nothing was. */
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
   * The evaluation in what was read, where it holds one and not numbers by their names: with where
   * it comes from around it, or alone as 'kvasir eval --json' leaves it.
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

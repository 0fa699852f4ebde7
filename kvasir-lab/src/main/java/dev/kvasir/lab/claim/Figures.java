package dev.kvasir.lab.claim;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** What a trial left: the rows of an evaluation, or numbers by their names. */
final class Figures {
  private final JsonObject all;
  private final Map<String, Row> rows = new HashMap<>(); // by spec, as typed and as named

  private Figures(JsonObject all) {
    this.all = all;
    JsonElement evaluation = all.get("evaluation");
    if (evaluation != null) {
      addRows(evaluation.getAsJsonObject());
    }
  }

  /** Empty where the trial was never run. */
  static Optional<Figures> read(Path file) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new Figures(JsonParser.parseString(Files.readString(file)).getAsJsonObject()));
    } catch (IOException | JsonParseException | IllegalStateException e) {
      throw new InvalidInputException("%s: holds no figures".formatted(file), e);
    }
  }

  /**
   * Rows stand in the order of what was asked for, and may be named by more than that: thresholds
   * that a profile holds, for example.
   */
  private void addRows(JsonObject evaluation) {
    List<JsonElement> specs =
        evaluation.getAsJsonObject("settings").getAsJsonArray("specs").asList();
    List<Row> found = EvaluationJson.rows(evaluation);
    found.forEach(row -> rows.put(row.spec(), row));
    for (int i = 0; i < Math.min(specs.size(), found.size()); i++) {
      rows.put(specs.get(i).getAsString(), found.get(i));
    }
  }

  Optional<Row> row(String spec) {
    return Optional.ofNullable(rows.get(spec));
  }

  OptionalDouble number(String name) {
    JsonElement found = all.get(name);
    return found == null || found.isJsonNull()
        ? OptionalDouble.empty()
        : OptionalDouble.of(found.getAsDouble());
  }
}

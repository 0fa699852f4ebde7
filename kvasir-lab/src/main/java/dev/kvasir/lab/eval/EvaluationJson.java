package dev.kvasir.lab.eval;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.format.AtomicFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Converts evaluations to and from JSON, with all record components by name. */
public final class EvaluationJson {
  private static final Gson GSON =
      new GsonBuilder()
          .setPrettyPrinting()
          .disableHtmlEscaping()
          .enableComplexMapKeySerialization() // so that keys are labels too
          .registerTypeAdapter(double.class, new NumberOrNull())
          .registerTypeAdapter(Double.class, new NumberOrNull())
          .registerTypeAdapter(
              CacheSpec.class,
              (JsonSerializer<CacheSpec>) (spec, type, context) -> new JsonPrimitive(spec.text()))
          .registerTypeAdapter(
              Task.class,
              (JsonSerializer<Task>) (task, type, context) -> new JsonPrimitive(task.label()))
          .registerTypeAdapter(
              Optional.class,
              (JsonSerializer<Optional<?>>)
                  (value, type, context) -> context.serialize(value.orElse(null)))
          .serializeNulls()
          .create();

  private EvaluationJson() {}

  public static JsonElement tree(Evaluation evaluation) {
    return GSON.toJsonTree(evaluation);
  }

  /** Returns a written evaluation without its specs; its rows are compared again. */
  public static Evaluation read(JsonObject evaluation) {
    JsonObject settings = evaluation.getAsJsonObject("settings");
    EvaluationSettings read =
        new EvaluationSettings(
            List.of(),
            EnumSet.copyOf(
                settings.getAsJsonArray("tasks").asList().stream()
                    .flatMap(label -> Task.parse(label.getAsString()).stream())
                    .toList()),
            settings.getAsJsonArray("contexts").asList().stream()
                .map(JsonElement::getAsInt)
                .toList(),
            settings.get("samples").getAsInt(),
            settings.get("steps").getAsInt(),
            settings.get("seed").getAsLong());
    return new Evaluation(
        evaluation.get("model").getAsString(),
        read,
        evaluation.get("text").getAsString(),
        evaluation.get("machine").getAsString(),
        evaluation.get("complete").getAsBoolean(),
        ScoreComparisons.of(rows(evaluation)));
  }

  /** Returns the rows of a written evaluation, without their comparisons. */
  public static List<Row> rows(JsonObject evaluation) {
    List<Row> rows = new ArrayList<>();
    for (JsonElement element : evaluation.getAsJsonArray("rows")) {
      JsonObject row = element.getAsJsonObject();
      Map<Task, Score> scores = new EnumMap<>(Task.class);
      row.getAsJsonObject("scores")
          .asMap()
          .forEach(
              (label, score) -> {
                Task task = Task.parse(label).iterator().next();
                scores.put(task, GSON.fromJson(score, task.scoreType()));
              });
      Footprint footprint = GSON.fromJson(row.get("footprint"), Footprint.class);
      rows.add(new Row(row.get("spec").getAsString(), footprint, scores, Map.of()));
    }
    return rows;
  }

  /**
   * Returns the rows by requested spec, in the requested order. The name of a row may contain more
   * than the spec, for example thresholds from a profile.
   */
  public static Map<String, Row> rowsByRequest(JsonObject evaluation) {
    List<JsonElement> specs =
        evaluation.getAsJsonObject("settings").getAsJsonArray("specs").asList();
    List<Row> found = rows(evaluation);
    Map<String, Row> rows = new LinkedHashMap<>();
    for (int i = 0; i < Math.min(specs.size(), found.size()); i++) {
      rows.put(specs.get(i).getAsString(), found.get(i));
    }
    return rows;
  }

  public static String of(Evaluation evaluation) {
    return GSON.toJson(evaluation) + "\n";
  }

  public static void write(Evaluation evaluation, Path file) {
    AtomicFile.write(file, of(evaluation));
  }

  /** Writes NaN and infinities, which JSON lacks, as null and reads null as NaN. */
  private static final class NumberOrNull extends TypeAdapter<Double> {
    @Override
    public void write(JsonWriter out, Double value) throws IOException {
      if (value != null && Double.isFinite(value)) {
        out.value(value);
      } else {
        out.nullValue();
      }
    }

    @Override
    public Double read(JsonReader in) throws IOException {
      if (in.peek() == JsonToken.NULL) {
        in.nextNull();
        return Double.NaN;
      }
      return in.nextDouble();
    }
  }
}

package dev.kvasir.lab.eval;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonNull;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.format.WholeFile;
import java.nio.file.Path;
import java.util.Optional;

/** An evaluation as JSON: the records by their names, and nothing left out. */
public final class EvaluationJson {
  private static final Gson GSON =
      new GsonBuilder()
          .setPrettyPrinting()
          .disableHtmlEscaping()
          .enableComplexMapKeySerialization() // so that keys are labels too
          .registerTypeAdapter(double.class, numberOrNull())
          .registerTypeAdapter(Double.class, numberOrNull())
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

  /** JSON has no NaN and no infinity; both stand for a figure that could not be told. */
  private static JsonSerializer<Double> numberOrNull() {
    return (value, type, context) ->
        Double.isFinite(value) ? new JsonPrimitive(value) : JsonNull.INSTANCE;
  }

  public static String of(Evaluation evaluation) {
    return GSON.toJson(evaluation) + "\n";
  }

  public static void write(Evaluation evaluation, Path file) {
    WholeFile.write(file, of(evaluation));
  }
}

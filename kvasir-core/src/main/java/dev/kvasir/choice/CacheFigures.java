package dev.kvasir.choice;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A table of measured figures, from which {@link CacheChoice} chooses.
 *
 * <p>Its file is a JSON object with a string {@code source} and an array {@code rows} of objects:
 * {@code spec}, {@code divergence} and, where it was measured, {@code speed}.
 *
 * @param source where the figures come from, as it follows "by" in a sentence
 * @param rows in any order, without fp16
 */
public record CacheFigures(String source, List<CacheFigure> rows) {
  private static final String BUILT_IN = "figures.json";

  public CacheFigures {
    rows = List.copyOf(rows);
  }

  /**
   * Returns the figures of a public model, for models that nobody has measured: of this model, of
   * one of its family, or the first of the table.
   *
   * @param fingerprint of the model
   * @param family the identifier of the model's architecture
   */
  public static CacheFigures builtIn(String fingerprint, String family) {
    List<JsonFile> tables = objects(builtInFile(), "tables");
    return first(tables, "models", fingerprint)
        .or(() -> first(tables, "families", family))
        .map(CacheFigures::of)
        .orElseGet(() -> of(tables.getFirst()));
  }

  private static Optional<JsonFile> first(List<JsonFile> tables, String list, String word) {
    return tables.stream()
        .filter(
            table ->
                table
                    .array(list)
                    .filter(words -> words.contains(new JsonPrimitive(word)))
                    .isPresent())
        .findFirst();
  }

  private static JsonFile builtInFile() {
    try (InputStream stream = CacheFigures.class.getResourceAsStream(BUILT_IN)) {
      return JsonFile.parse(BUILT_IN, new String(stream.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the figures of a model, or built-in ones if it has not been measured.
   *
   * @param fingerprint of the model
   * @param family the identifier of its architecture
   * @throws InvalidInputException if the model's file is damaged
   */
  public static CacheFigures ofModel(String fingerprint, String family, UserFolder folder) {
    Path file = folder.figures(fingerprint);
    return Files.exists(file) ? of(JsonFile.read(file)) : builtIn(fingerprint, family);
  }

  static CacheFigures of(JsonFile file) {
    String source = file.string("source").orElseThrow(() -> file.missing("source", "a string"));
    return new CacheFigures(
        source, objects(file, "rows").stream().map(CacheFigures::figure).toList());
  }

  private static List<JsonFile> objects(JsonFile file, String name) {
    List<JsonFile> objects = new ArrayList<>();
    for (JsonElement one : file.array(name).orElseThrow(() -> file.missing(name, "an array"))) {
      if (!one.isJsonObject()) {
        throw file.wrong(name, one, "objects");
      }
      objects.add(JsonFile.parse("%s '%s'".formatted(file.name(), name), one.toString()));
    }
    return objects;
  }

  private static CacheFigure figure(JsonFile row) {
    String spec = row.string("spec").orElseThrow(() -> row.missing("spec", "a string"));
    double divergence =
        row.number("divergence").orElseThrow(() -> row.missing("divergence", "a number"));
    OptionalDouble speed =
        row.number("speed").map(OptionalDouble::of).orElse(OptionalDouble.empty());
    if (!(divergence >= 0)) {
      throw new InvalidInputException(
          "%s: 'divergence' is %s; expected at least 0".formatted(row.name(), divergence));
    }
    return new CacheFigure(spec, divergence, speed);
  }
}

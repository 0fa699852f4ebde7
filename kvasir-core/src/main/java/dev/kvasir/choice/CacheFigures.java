package dev.kvasir.choice;

import com.google.gson.JsonElement;
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

  /** Returns the figures of a few public models, for models that nobody has measured. */
  public static CacheFigures builtIn() {
    try (InputStream stream = CacheFigures.class.getResourceAsStream(BUILT_IN)) {
      String json = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      return of(JsonFile.parse(BUILT_IN, json));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the figures of a model, or the built-in ones if it has not been measured.
   *
   * @param fingerprint of the model
   * @throws InvalidInputException if the model's file is damaged
   */
  public static CacheFigures ofModel(String fingerprint, UserFolder folder) {
    Path file = folder.figures(fingerprint);
    return Files.exists(file) ? of(JsonFile.read(file)) : builtIn();
  }

  static CacheFigures of(JsonFile file) {
    String source = file.string("source").orElseThrow(() -> file.missing("source", "a string"));
    List<CacheFigure> rows = new ArrayList<>();
    for (JsonElement row : file.array("rows").orElseThrow(() -> file.missing("rows", "an array"))) {
      if (!row.isJsonObject()) {
        throw file.wrong("rows", row, "objects");
      }
      rows.add(figure(JsonFile.parse(file.name() + " 'rows'", row.toString())));
    }
    return new CacheFigures(source, rows);
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

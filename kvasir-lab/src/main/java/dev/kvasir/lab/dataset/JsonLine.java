package dev.kvasir.lab.dataset;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One object of a JSON Lines file.
 *
 * @param place file and line, for messages
 */
public record JsonLine(JsonObject object, String place) {

  /** Reads all objects of a file. */
  static List<JsonLine> readAll(Path file) {
    try {
      return parseAll(Files.readString(file), file.toString());
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read as UTF-8".formatted(file), e);
    }
  }

  static List<JsonLine> parseAll(String text, String name) {
    List<JsonLine> lines = new ArrayList<>();
    List<String> all = text.lines().toList();
    for (int i = 0; i < all.size(); i++) {
      if (!all.get(i).isBlank()) {
        lines.add(parse(all.get(i), "%s, line %d".formatted(name, i + 1)));
      }
    }
    if (lines.isEmpty()) {
      throw new InvalidInputException(name + ": is empty; expected a JSON object in each line");
    }
    return lines;
  }

  private static JsonLine parse(String line, String place) {
    try (JsonReader reader = new JsonReader(new StringReader(line))) {
      reader.setStrictness(Strictness.STRICT);
      return new JsonLine(new Gson().fromJson(reader, JsonObject.class), place);
    } catch (JsonParseException | ClassCastException | IOException e) {
      throw new InvalidInputException("%s: is no JSON object".formatted(place), e);
    }
  }

  /** Returns the text of the first of several fields that exists. */
  String text(String... names) {
    return optional(names)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: has no '%s'; it has %s"
                        .formatted(place, String.join("' or '", names), object.keySet())));
  }

  Optional<String> optional(String... names) {
    return Arrays.stream(names)
        .map(object::get)
        .filter(value -> value != null && value.isJsonPrimitive())
        .map(JsonElement::getAsString)
        .findFirst();
  }

  /** Returns the texts of an array; a single text counts as an array of one. */
  List<String> texts(String name) {
    JsonElement value = object.get(name);
    if (value == null || value.isJsonNull()) {
      return List.of();
    }
    if (!value.isJsonArray()) {
      return List.of(value.getAsString());
    }
    return value.getAsJsonArray().asList().stream()
        .map(one -> one.isJsonPrimitive() ? one.getAsString() : one.toString())
        .toList();
  }

  JsonArray array(String name) {
    JsonElement value = object.get(name);
    if (value == null || !value.isJsonArray()) {
      throw new InvalidInputException("%s: has no list '%s'".formatted(place, name));
    }
    return value.getAsJsonArray();
  }
}

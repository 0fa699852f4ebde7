package dev.kvasir.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A JSON object from a file, with typed access to its members. Errors name the file, the member,
 * the value found and the expected type.
 */
public final class JsonFile {
  /** Three times the size of the largest known tokenizer. */
  private static final long MAX_BYTES = 100_000_000;

  /** More than any configuration takes. Larger files are tokenizers, which hold no such numbers. */
  private static final long MAX_CONFIGURATION = 1 << 20;

  private final String name;
  private final JsonObject root;

  private JsonFile(String name, JsonObject root) {
    this.name = name;
    this.root = root;
  }

  public static JsonFile read(Path file) {
    if (Files.isDirectory(file)) {
      throw new InvalidInputException(file + ": is a folder; a JSON file was expected");
    }
    try {
      long size = Files.size(file);
      if (size > MAX_BYTES) {
        throw new InvalidInputException(
            "%s: takes %d bytes; expected at most %d".formatted(file, size, MAX_BYTES));
      }
      String text = Files.readString(file);
      return parse(file.toString(), size <= MAX_CONFIGURATION ? PythonNumbers.asTexts(text) : text);
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(file + ": no such file", e);
    } catch (CharacterCodingException e) {
      throw new InvalidInputException(file + ": is not valid UTF-8", e);
    } catch (IOException e) {
      throw new InvalidInputException(file + ": cannot be read: " + e.getMessage(), e);
    }
  }

  public static JsonFile parse(String name, String json) {
    return of(name, parseElement(name, json));
  }

  /** Returns typed access to an element, which must be an object. */
  public static JsonFile of(String name, JsonElement element) {
    if (!element.isJsonObject()) {
      throw new InvalidInputException(
          "%s: holds %s; expected a JSON object".formatted(name, describe(element)));
    }
    return new JsonFile(name, element.getAsJsonObject());
  }

  /**
   * Parses any JSON value strictly: no comments, unquoted names, duplicate names or trailing text.
   */
  public static JsonElement parseElement(String name, String json) {
    return StrictJsonParser.parse(name, json);
  }

  public String name() {
    return name;
  }

  public JsonObject root() {
    return root;
  }

  /** Returns a copy with default values for missing members; a null member is not missing. */
  public JsonFile withDefaults(JsonObject defaults) {
    JsonObject filled = root.deepCopy();
    for (String key : defaults.keySet()) {
      if (!filled.has(key)) {
        filled.add(key, defaults.get(key));
      }
    }
    return new JsonFile(name, filled);
  }

  public boolean has(String key) {
    return root.has(key) && !root.get(key).isJsonNull();
  }

  public Optional<JsonElement> element(String key) {
    return has(key) ? Optional.of(root.get(key)) : Optional.empty();
  }

  /** Returns a nested object; empty if missing or null. */
  public Optional<JsonFile> object(String key) {
    return element(key)
        .map(
            element -> {
              if (!element.isJsonObject()) {
                throw wrong(key, element, "an object");
              }
              return new JsonFile(name + " '" + key + "'", element.getAsJsonObject());
            });
  }

  public Optional<String> string(String key) {
    return element(key)
        .map(
            element -> {
              if (!(element instanceof JsonPrimitive primitive) || !primitive.isString()) {
                throw wrong(key, element, "a string");
              }
              return primitive.getAsString();
            });
  }

  public OptionalInt integer(String key) {
    Optional<Double> number = number(key);
    if (number.isEmpty()) {
      return OptionalInt.empty();
    }
    double value = number.get();
    if (value != Math.rint(value) || value < 0 || value > Integer.MAX_VALUE) {
      throw wrong(key, root.get(key), "a whole number from 0 to " + Integer.MAX_VALUE);
    }
    return OptionalInt.of((int) value);
  }

  public int requireInteger(String key) {
    return integer(key).orElseThrow(() -> missing(key, "a whole number"));
  }

  public Optional<Double> number(String key) {
    return element(key)
        .map(
            element -> {
              if (!(element instanceof JsonPrimitive primitive) || !primitive.isNumber()) {
                throw wrong(key, element, "a number");
              }
              return primitive.getAsDouble();
            });
  }

  public Optional<Boolean> bool(String key) {
    return element(key)
        .map(
            element -> {
              if (!(element instanceof JsonPrimitive primitive) || !primitive.isBoolean()) {
                throw wrong(key, element, "true or false");
              }
              return primitive.getAsBoolean();
            });
  }

  public Optional<JsonArray> array(String key) {
    return element(key)
        .map(
            element -> {
              if (!element.isJsonArray()) {
                throw wrong(key, element, "an array");
              }
              return element.getAsJsonArray();
            });
  }

  public InvalidInputException missing(String key, String expected) {
    return new InvalidInputException(
        "%s: '%s' is missing; expected %s".formatted(name, Excerpt.of(key), expected));
  }

  public InvalidInputException wrong(String key, JsonElement found, String expected) {
    return new InvalidInputException(
        "%s: '%s' is %s; expected %s".formatted(name, Excerpt.of(key), describe(found), expected));
  }

  private static String describe(JsonElement element) {
    if (element.isJsonObject()) {
      return "an object";
    }
    if (element.isJsonArray()) {
      return "an array";
    }
    return Excerpt.of(element.toString());
  }
}

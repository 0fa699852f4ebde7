package dev.kvasir.server.api;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Typed and range-checked access to the fields of a JSON object. A null field counts as absent,
 * since clients send nulls. Unknown fields are ignored.
 */
public final class Fields {
  private static final int MAX_SHOWN_LENGTH = 40;

  private final JsonObject object;
  private final String path;

  private Fields(JsonObject object, String path) {
    this.object = object;
    this.path = path;
  }

  /**
   * @throws ApiException if the text is not a JSON object
   */
  public static Fields parse(String json) {
    try {
      return new Fields(JsonFile.parse("the request's body", json).root(), "");
    } catch (InvalidInputException e) {
      throw ApiException.invalid(e.getMessage());
    }
  }

  /** Returns the fields of a whole request. */
  public static Fields of(JsonObject object) {
    return new Fields(object, "");
  }

  /** Returns the fields of an object inside a request. */
  public static Fields of(JsonObject object, String path) {
    return new Fields(object, path + ".");
  }

  /** Returns the fields of an object inside this one. */
  public Fields at(String name, JsonObject inside) {
    return new Fields(inside, path + name + ".");
  }

  public JsonObject json() {
    return object;
  }

  public Optional<JsonElement> element(String name) {
    JsonElement found = object.get(name);
    return found == null || found.isJsonNull() ? Optional.empty() : Optional.of(found);
  }

  public Optional<String> string(String name) {
    return element(name)
        .map(found -> primitive(name, found, "a string"))
        .map(found -> found.isString() ? found.getAsString() : refuse(name, found, "a string"));
  }

  public boolean isTrue(String name) {
    return element(name)
        .map(found -> primitive(name, found, "true or false"))
        .map(
            found ->
                found.isBoolean() ? found.getAsBoolean() : refuse(name, found, "true or false"))
        .orElse(false);
  }

  public OptionalInt integer(String name, int min, int max) {
    OptionalLong value = longInteger(name, min, max);
    return value.isEmpty() ? OptionalInt.empty() : OptionalInt.of((int) value.getAsLong());
  }

  public OptionalLong longInteger(String name, long min, long max) {
    Optional<JsonElement> found = element(name);
    if (found.isEmpty()) {
      return OptionalLong.empty();
    }
    String expected = "a whole number from %d to %d".formatted(min, max);
    double value = number(name, found.get(), expected);
    if (value != Math.rint(value) || value < min || value > max) {
      refuse(name, found.get(), expected);
    }
    return OptionalLong.of(found.get().getAsNumber().longValue());
  }

  public OptionalDouble number(String name, double min, double max) {
    Optional<JsonElement> found = element(name);
    if (found.isEmpty()) {
      return OptionalDouble.empty();
    }
    String expected = "a number from %s to %s".formatted(plain(min), plain(max));
    double value = number(name, found.get(), expected);
    if (!(value >= min && value <= max)) {
      refuse(name, found.get(), expected);
    }
    return OptionalDouble.of(value);
  }

  private static String plain(double bound) {
    return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
  }

  private double number(String name, JsonElement found, String expected) {
    JsonPrimitive value = primitive(name, found, expected);
    return value.isNumber() ? value.getAsDouble() : this.<Double>refuse(name, found, expected);
  }

  public Optional<JsonArray> array(String name) {
    return element(name)
        .map(
            found ->
                found.isJsonArray()
                    ? found.getAsJsonArray()
                    : this.<JsonArray>refuse(name, found, "a list"));
  }

  public Optional<Fields> object(String name) {
    return element(name)
        .map(
            found ->
                found.isJsonObject()
                    ? new Fields(found.getAsJsonObject(), path + name + ".")
                    : this.<Fields>refuse(name, found, "an object"));
  }

  private JsonPrimitive primitive(String name, JsonElement found, String expected) {
    return found.isJsonPrimitive()
        ? found.getAsJsonPrimitive()
        : this.<JsonPrimitive>refuse(name, found, expected);
  }

  public ApiException missing(String name, String expected) {
    return ApiException.invalidField(
        path + name, "%s%s is missing; expected %s".formatted(path, name, expected));
  }

  public ApiException wrong(String name, JsonElement found, String expected) {
    String shown = found.toString();
    shown = shown.length() > MAX_SHOWN_LENGTH ? shown.substring(0, MAX_SHOWN_LENGTH) + "…" : shown;
    return ApiException.invalidField(
        path + name, "%s%s is %s; expected %s".formatted(path, name, shown, expected));
  }

  /** Always throws; the return type lets it stand in place of a value. */
  private <T> T refuse(String name, JsonElement found, String expected) {
    throw wrong(name, found, expected);
  }
}

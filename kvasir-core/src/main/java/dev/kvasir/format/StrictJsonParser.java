package dev.kvasir.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.StringReader;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses JSON more strictly than Gson: names are unique in an object, since readers disagree on
 * duplicates. Numbers are longs or finite doubles, and depth and size are limited.
 */
final class StrictJsonParser {
  /** The deepest known configuration has 7 levels. */
  private static final int MAX_DEPTH = 64;

  /**
   * A tokenizer of 256k tokens and 500k merges has 2 million values. A value may take 2 bytes of
   * text and about 80 bytes of heap.
   */
  private static final int MAX_VALUES = 1 << 22;

  private static final Pattern PARSER_ERROR = Pattern.compile("^(.*?) at (line \\d+ column \\d+)");

  private final String fileName;
  private final JsonReader reader;
  private int valueCount;

  private StrictJsonParser(String fileName, String json) {
    this.fileName = fileName;
    reader = new JsonReader(new StringReader(json));
    reader.setStrictness(Strictness.STRICT);
    reader.setNestingLimit(MAX_DEPTH);
  }

  static JsonElement parse(String fileName, String json) {
    StrictJsonParser tree = new StrictJsonParser(fileName, json);
    try {
      JsonElement root = tree.next();
      tree.reader.peek(); // throws if text follows
      return root;
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: is not valid JSON: %s".formatted(fileName, describe(e)), e);
    }
  }

  private JsonElement next() throws IOException {
    if (++valueCount > MAX_VALUES) {
      throw malformed("holds more than %d JSON values".formatted(MAX_VALUES));
    }
    return switch (reader.peek()) {
      case BEGIN_OBJECT -> object();
      case BEGIN_ARRAY -> array();
      case STRING -> new JsonPrimitive(reader.nextString());
      case NUMBER -> new JsonPrimitive(number(reader.nextString()));
      case BOOLEAN -> new JsonPrimitive(reader.nextBoolean());
      default -> {
        reader.nextNull();
        yield JsonNull.INSTANCE;
      }
    };
  }

  private JsonObject object() throws IOException {
    JsonObject object = new JsonObject();
    reader.beginObject();
    while (reader.hasNext()) {
      String name = reader.nextName();
      if (object.has(name)) {
        throw malformed("'%s' appears twice in one JSON object".formatted(Excerpt.of(name)));
      }
      object.add(name, next());
    }
    reader.endObject();
    return object;
  }

  private JsonArray array() throws IOException {
    JsonArray array = new JsonArray();
    reader.beginArray();
    while (reader.hasNext()) {
      array.add(next());
    }
    reader.endArray();
    return array;
  }

  private Number number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException notALong) {
      double value = Double.parseDouble(text);
      if (Double.isInfinite(value)) {
        throw malformed(
            "holds the number %s; expected at most %s in magnitude"
                .formatted(Excerpt.of(text), Double.MAX_VALUE));
      }
      return value;
    }
  }

  private InvalidInputException malformed(String what) {
    return new InvalidInputException(fileName + ": " + what);
  }

  /** Returns Gson's reason and position, without its advice to programmers. */
  private static String describe(IOException e) {
    Matcher matcher = PARSER_ERROR.matcher(String.valueOf(e.getMessage()));
    if (!matcher.find()) {
      return "it ends early";
    }
    String reason = matcher.group(1).startsWith("Use ") ? "Unexpected text" : matcher.group(1);
    String position = matcher.group(2);
    return reason.substring(0, 1).toLowerCase(Locale.ROOT)
        + reason.substring(1)
        + " at "
        + position;
  }
}

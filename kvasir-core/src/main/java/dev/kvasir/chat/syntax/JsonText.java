package dev.kvasir.chat.syntax;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Optional;

/** Converts between text and JSON. */
final class JsonText {
  private JsonText() {}

  /** Writes a character of a JSON string, escaped if necessary. */
  static void writeCharacter(char c, CharSink out) {
    switch (c) {
      case '"' -> out.accept("\\\"");
      case '\\' -> out.accept("\\\\");
      case '\n' -> out.accept("\\n");
      case '\r' -> out.accept("\\r");
      case '\t' -> out.accept("\\t");
      default -> {
        if (c < 0x20) {
          out.accept("\\u%04x".formatted((int) c));
        } else {
          out.accept(c);
        }
      }
    }
  }

  /** Returns text as a JSON string. */
  static String string(CharSequence text) {
    StringBuilder json = new StringBuilder("\"");
    CharSink out = json::append;
    for (int i = 0; i < text.length(); i++) {
      writeCharacter(text.charAt(i), out);
    }
    return json.append('"').toString();
  }

  /** Returns a literal as compact JSON; empty if the whole text is not one. */
  static Optional<String> compact(CharSequence text, boolean isPython) {
    StringBuilder json = new StringBuilder();
    CharSink out = json::append;
    ValueReader reader = isPython ? ValueReader.python(out) : ValueReader.json(out);
    // The line break ends a number.
    String whole = text.toString().strip() + "\n";
    for (int i = 0; i < whole.length(); i++) {
      Step step = reader.accept(whole.charAt(i));
      if (step != Step.MORE) {
        boolean isWhole = i == whole.length() - (step == Step.DONE ? 2 : 1);
        return isWhole && step != Step.MALFORMED ? Optional.of(json.toString()) : Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** Returns the text of a JSON string; empty for other JSON. */
  static Optional<String> unquoted(String json) {
    try {
      JsonElement parsed = JsonParser.parseString(json);
      return parsed.isJsonPrimitive() && parsed.getAsJsonPrimitive().isString()
          ? Optional.of(parsed.getAsString())
          : Optional.empty();
    } catch (JsonParseException e) {
      return Optional.empty();
    }
  }
}

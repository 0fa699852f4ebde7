package dev.kvasir.format;

import java.util.List;

/**
 * Numbers that Python writes to JSON files although JSON does not have them, such as the upper
 * limit of a model's step sizes.
 */
final class PythonNumbers {
  private static final List<String> NAMES = List.of("-Infinity", "Infinity", "NaN");

  private PythonNumbers() {}

  /** Returns a JSON text with strings in place of these numbers. */
  static String asTexts(String json) {
    if (NAMES.stream().noneMatch(json::contains)) {
      return json;
    }
    StringBuilder text = new StringBuilder(json.length() + 16);
    boolean inString = false;
    for (int at = 0; at < json.length(); at++) {
      char next = json.charAt(at);
      String number = inString ? "" : numberAt(json, at);
      if (!number.isEmpty()) {
        text.append('"').append(number).append('"');
        at += number.length() - 1;
        continue;
      }
      text.append(next);
      if (inString && next == '\\' && at + 1 < json.length()) {
        text.append(json.charAt(++at));
      } else if (next == '"') {
        inString = !inString;
      }
    }
    return text.toString();
  }

  private static String numberAt(String json, int at) {
    char first = json.charAt(at);
    if (first != '-' && first != 'I' && first != 'N') {
      return "";
    }
    return NAMES.stream().filter(name -> json.startsWith(name, at)).findFirst().orElse("");
  }
}

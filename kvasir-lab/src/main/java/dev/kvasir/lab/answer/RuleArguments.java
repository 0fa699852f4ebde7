package dev.kvasir.lab.answer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import java.util.List;

/** The arguments of one instruction, by the names that IFEval's files use. */
record RuleArguments(String instruction, JsonObject values) {
  String text(String name) {
    return required(name).getAsString();
  }

  int count(String name) {
    return required(name).getAsInt();
  }

  List<String> texts(String name) {
    return required(name).getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
  }

  /** Returns whether a count stands in the required relation to a bound. */
  boolean holds(int count, String relation, String bound) {
    String which = text(relation);
    int limit = count(bound);
    return switch (which) {
      case "less than" -> count < limit;
      case "at least" -> count >= limit;
      default ->
          throw new InvalidInputException(
              "'%s' of '%s' is '%s'; expected 'less than' or 'at least'"
                  .formatted(relation, instruction, which));
    };
  }

  private JsonElement required(String name) {
    JsonElement value = values.get(name);
    if (value == null || value.isJsonNull()) {
      throw new InvalidInputException(
          "the instruction '%s' has no '%s'; expected it in 'kwargs'".formatted(instruction, name));
    }
    return value;
  }
}

package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.server.api.Fields;

/** Reads lists of token ids. */
public final class TokenIds {
  private TokenIds() {}

  /** Parses token ids, checked against the vocabulary. */
  public static int[] read(Fields request, JsonArray list, int vocabulary) {
    int[] ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonElement id = list.get(i);
      double value = isNumber(id) ? id.getAsDouble() : -1;
      if (value != Math.rint(value) || value < 0 || value >= vocabulary) {
        throw request.wrong(
            "[%d]".formatted(i), id, "a token from 0 to %d".formatted(vocabulary - 1));
      }
      ids[i] = (int) value;
    }
    return ids;
  }

  static boolean isNumber(JsonElement element) {
    return element.isJsonPrimitive() && element.getAsJsonPrimitive().isNumber();
  }
}

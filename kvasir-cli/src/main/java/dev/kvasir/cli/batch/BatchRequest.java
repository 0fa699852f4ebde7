package dev.kvasir.cli.batch;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.util.Optional;
import java.util.Set;

/**
 * A line of a batch file.
 *
 * @param line its number, from 1
 * @param customId the name that its author gave it; null if it has none
 * @param url path of the endpoint
 * @param body of the request
 * @param mistake why it cannot be run; null if it can
 */
record BatchRequest(long line, String customId, String url, JsonObject body, String mistake) {
  private static final String CUSTOM_ID = "custom_id";

  /**
   * @param used the ids of earlier lines, to which its own is added
   */
  static BatchRequest parse(long line, String text, Set<String> used) {
    String customId = null;
    try {
      JsonObject object = JsonFile.parse("line " + line, text).root();
      customId = text(object, CUSTOM_ID).orElse(null);
      if (customId == null) {
        throw new InvalidInputException("custom_id is missing; expected a text");
      }
      if (!used.add(customId)) {
        throw new InvalidInputException(
            "custom_id is '%s' as on an earlier line; expected one that differs"
                .formatted(customId));
      }
      String method = text(object, "method").orElse("POST");
      if (!method.equals("POST")) {
        throw new InvalidInputException("method is '%s'; expected POST".formatted(method));
      }
      String url =
          text(object, "url")
              .filter(path -> path.matches("/[!-~]*"))
              .orElseThrow(
                  () ->
                      new InvalidInputException(
                          "url is missing; expected a path such as /v1/chat/completions"));
      return new BatchRequest(line, customId, url, body(object), null);
    } catch (InvalidInputException e) {
      return new BatchRequest(line, customId, null, null, e.getMessage());
    }
  }

  private static JsonObject body(JsonObject object) {
    JsonElement body = object.get("body");
    if (body == null || !body.isJsonObject()) {
      throw new InvalidInputException("body is missing; expected an object");
    }
    JsonElement stream = body.getAsJsonObject().get("stream");
    if (stream != null && stream.toString().equals("true")) {
      throw new InvalidInputException("stream is true; a batch has whole responses only");
    }
    return body.getAsJsonObject();
  }

  private static Optional<String> text(JsonObject object, String name) {
    return Optional.ofNullable(object.get(name))
        .filter(JsonElement::isJsonPrimitive)
        .filter(value -> value.getAsJsonPrimitive().isString())
        .map(JsonElement::getAsString);
  }

  /** Returns the id of its line in the output. */
  String id() {
    return "batch_req_" + line;
  }
}

package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.OutputFormat;
import dev.kvasir.chat.ToolSet;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.Optional;

/**
 * What a request constrains the text to, and the field that says so.
 *
 * @param field the request field that determines it
 */
record RequestedFormat(OutputFormat format, String field) {
  private static final String FORMAT = "response_format";
  private static final String TEXTS = "structured_outputs";

  static RequestedFormat read(Fields request, ToolSet tools) {
    if (tools.isRequired()) {
      return new RequestedFormat(OutputFormat.anyText(), "tools");
    }
    Optional<OutputFormat> format =
        request.object(FORMAT).flatMap(wanted -> format(request, wanted));
    Optional<OutputFormat> texts = request.object(TEXTS).flatMap(RequestedFormat::texts);
    if (format.isPresent() && texts.isPresent()) {
      throw ApiException.invalidField(
          TEXTS, "structured_outputs and response_format are both given; expected one");
    }
    return texts
        .map(given -> new RequestedFormat(given, TEXTS))
        .orElseGet(() -> new RequestedFormat(format.orElseGet(OutputFormat::anyText), FORMAT));
  }

  private static Optional<OutputFormat> format(Fields request, Fields format) {
    String type = format.string("type").orElse("text");
    return switch (type) {
      case "text" -> Optional.empty();
      case "json_object" -> Optional.of(OutputFormat.jsonObject());
      case "json_schema" ->
          Optional.of(
              format
                  .object("json_schema")
                  .flatMap(named -> named.object("schema"))
                  .map(schema -> OutputFormat.jsonSchema(schema.json().toString()))
                  .orElseThrow(() -> format.missing("json_schema.schema", "a JSON Schema")));
      default ->
          throw request.wrong(FORMAT, format.json(), "the type text, json_object or json_schema");
    };
  }

  /** Reads vLLM's {@code structured_outputs.choice}: one of several texts. */
  private static Optional<OutputFormat> texts(Fields wanted) {
    return wanted.array("choice").map(texts -> oneOf(wanted, texts));
  }

  private static OutputFormat oneOf(Fields wanted, JsonArray texts) {
    boolean good = !texts.isEmpty() && texts.asList().stream().allMatch(RequestedFormat::isText);
    if (!good) {
      throw wanted.wrong("choice", texts, "a list of at least one text");
    }
    return OutputFormat.oneOf(texts.asList().stream().map(JsonElement::getAsString).toList());
  }

  private static boolean isText(JsonElement element) {
    return element.isJsonPrimitive()
        && element.getAsJsonPrimitive().isString()
        && !element.getAsString().isEmpty();
  }
}

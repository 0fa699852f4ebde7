package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.OutputFormat;
import dev.kvasir.chat.ToolSet;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a request constrains the text to, and the field that says so.
 *
 * @param field the request field that determines it
 */
record RequestedFormat(OutputFormat format, String field) {
  private static final String FORMAT = "response_format";
  private static final String STRUCTURED = "structured_outputs";
  private static final String GUIDED = "guided_";
  private static final String GRAMMAR = "grammar";

  /** Reads what vLLM and llama.cpp name differently: structured_outputs, guided_... and grammar. */
  static RequestedFormat read(Fields request, ToolSet tools) {
    if (tools.isRequired()) {
      return new RequestedFormat(OutputFormat.anyText(), "tools");
    }
    List<RequestedFormat> given = new ArrayList<>();
    request
        .object(FORMAT)
        .flatMap(wanted -> format(request, wanted))
        .ifPresent(format -> given.add(new RequestedFormat(format, FORMAT)));
    request
        .object(STRUCTURED)
        .ifPresent(
            wanted ->
                constraints(wanted, "")
                    .forEach((name, format) -> given.add(new RequestedFormat(format, STRUCTURED))));
    constraints(request, GUIDED)
        .forEach((name, format) -> given.add(new RequestedFormat(format, name)));
    request
        .string(GRAMMAR)
        .ifPresent(rules -> given.add(new RequestedFormat(OutputFormat.gbnf(rules), GRAMMAR)));
    if (given.size() > 1) {
      throw ApiException.invalidField(
          given.getLast().field(),
          "%s and %s are both given; expected one"
              .formatted(given.getLast().field(), given.getFirst().field()));
    }
    return given.isEmpty() ? new RequestedFormat(OutputFormat.anyText(), FORMAT) : given.getFirst();
  }

  /** Returns the constraints that are given, by the name of their field. */
  private static Map<String, OutputFormat> constraints(Fields fields, String prefix) {
    Map<String, OutputFormat> found = new LinkedHashMap<>();
    fields
        .array(prefix + "choice")
        .ifPresent(texts -> found.put(prefix + "choice", oneOf(fields, prefix + "choice", texts)));
    fields
        .string(prefix + "regex")
        .ifPresent(pattern -> found.put(prefix + "regex", OutputFormat.regex(pattern)));
    fields
        .string(prefix + GRAMMAR)
        .ifPresent(rules -> found.put(prefix + GRAMMAR, OutputFormat.gbnf(rules)));
    fields
        .object(prefix + "json")
        .map(schema -> OutputFormat.jsonSchema(schema.json().toString()))
        .ifPresent(format -> found.put(prefix + "json", format));
    return found;
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

  private static OutputFormat oneOf(Fields wanted, String name, JsonArray texts) {
    boolean good = !texts.isEmpty() && texts.asList().stream().allMatch(RequestedFormat::isText);
    if (!good) {
      throw wanted.wrong(name, texts, "a list of at least one text");
    }
    return OutputFormat.oneOf(texts.asList().stream().map(JsonElement::getAsString).toList());
  }

  private static boolean isText(JsonElement element) {
    return element.isJsonPrimitive()
        && element.getAsJsonPrimitive().isString()
        && !element.getAsString().isEmpty();
  }
}

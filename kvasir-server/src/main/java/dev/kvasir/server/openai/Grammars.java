package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.server.answer.ToolSyntax;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.Tokenizer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The grammars that answers are held to; those used last are kept with what they found out. */
final class Grammars {
  private static final int MOST_KEPT = 64;

  private final Tokenizer tokenizer;
  private final Map<String, TokenGrammar> kept = new LinkedHashMap<>(); // the oldest first

  Grammars(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Empty where any text will do. */
  Optional<TokenGrammar> of(Fields request, Tools tools) {
    if (tools.choice() == Tools.Choice.REQUIRED) {
      String key = "tools " + tools.functions();
      return Optional.of(kept(key, "tools", () -> calls(tools)));
    }
    Optional<Fields> format = request.object("response_format");
    return format.flatMap(wanted -> ofFormat(request, wanted));
  }

  private Optional<TokenGrammar> ofFormat(Fields request, Fields format) {
    String type = format.string("type").orElse("text");
    return switch (type) {
      case "text" -> Optional.empty();
      case "json_object" -> Optional.of(kept("object", "response_format", JsonGrammar::anyObject));
      case "json_schema" -> {
        JsonObject schema =
            format
                .object("json_schema")
                .flatMap(named -> named.object("schema"))
                .map(Fields::json)
                .orElseThrow(() -> format.missing("json_schema.schema", "a JSON Schema"));
        yield Optional.of(
            kept("schema " + schema, "response_format", () -> JsonGrammar.of(schema)));
      }
      default ->
          throw request.wrong(
              "response_format", format.json(), "the type text, json_object or json_schema");
    };
  }

  private synchronized TokenGrammar kept(String key, String field, Supplier<Grammar> grammar) {
    TokenGrammar known = kept.remove(key);
    try {
      kept.put(key, known == null ? grammar.get().over(tokenizer) : known);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField(field, e.getMessage());
    }
    if (kept.size() > MOST_KEPT) {
      kept.remove(kept.keySet().iterator().next());
    }
    return kept.get(key);
  }

  /** A call of one of the functions, with arguments as it describes them. */
  private static Grammar calls(Tools tools) {
    Grammar[] calls =
        tools.functions().stream()
            .map(function -> JsonGrammar.of(schema(function)))
            .toArray(Grammar[]::new);
    return Grammar.sequence(
        Grammar.literal(ToolSyntax.TAGS.open() + "\n"),
        Grammar.choice(calls),
        Grammar.literal("\n" + ToolSyntax.TAGS.close()));
  }

  /** References within a function's schema count from its own root, so they are moved along. */
  private static JsonObject schema(Tools.Function function) {
    JsonObject name = new JsonObject();
    name.addProperty("const", function.name());
    JsonObject properties = new JsonObject();
    properties.add("name", name);
    JsonObject arguments = function.schema().deepCopy();
    JsonObject schema = new JsonObject();
    for (String definitions : new String[] {"$defs", "definitions"}) {
      if (arguments.has(definitions)) {
        schema.add(definitions, arguments.remove(definitions));
      }
    }
    properties.add("arguments", arguments);
    schema.addProperty("type", "object");
    schema.add("properties", properties);
    JsonArray required = new JsonArray();
    required.add("name");
    required.add("arguments");
    schema.add("required", required);
    schema.addProperty("additionalProperties", false);
    return schema;
  }
}

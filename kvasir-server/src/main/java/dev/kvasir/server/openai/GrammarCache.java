package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
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

/**
 * An LRU cache of the grammars that constrain completions, with their token masks. It is
 * thread-safe.
 */
final class GrammarCache {
  private static final int MAX_CACHED = 64;

  private final Tokenizer tokenizer;
  private final Map<String, TokenGrammar> cached = new LinkedHashMap<>(); // oldest first

  GrammarCache(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Returns the grammar of a request; empty if its output is unconstrained. */
  Optional<TokenGrammar> of(Fields request, Tools tools) {
    if (tools.choice() == Tools.Choice.REQUIRED) {
      return Optional.of(
          cached(new GrammarSource("tools " + tools.functions(), "tools", () -> calls(tools))));
    }
    Optional<GrammarSource> format =
        request.object("response_format").flatMap(wanted -> ofFormat(request, wanted));
    Optional<GrammarSource> texts =
        request.object("structured_outputs").flatMap(GrammarCache::ofTexts);
    if (format.isPresent() && texts.isPresent()) {
      throw ApiException.invalidField(
          "structured_outputs",
          "structured_outputs and response_format are both given; expected one");
    }
    return texts
        .or(() -> format.map(source -> tools.isEmpty() ? source : orCalls(source, tools)))
        .map(this::cached);
  }

  /**
   * A grammar that may not be compiled yet.
   *
   * @param key the cache key
   * @param field the request field that it comes from
   */
  private record GrammarSource(String key, String field, Supplier<Grammar> grammar) {}

  /** Allows either a tool call or the requested format. */
  private static GrammarSource orCalls(GrammarSource source, Tools tools) {
    return new GrammarSource(
        source.key() + " or tools " + tools.functions(),
        source.field(),
        () -> Grammar.choice(calls(tools), source.grammar().get()));
  }

  private static Optional<GrammarSource> ofFormat(Fields request, Fields format) {
    String type = format.string("type").orElse("text");
    return switch (type) {
      case "text" -> Optional.empty();
      case "json_object" ->
          Optional.of(new GrammarSource("object", "response_format", JsonGrammar::anyObject));
      case "json_schema" -> {
        JsonObject schema =
            format
                .object("json_schema")
                .flatMap(named -> named.object("schema"))
                .map(Fields::json)
                .orElseThrow(() -> format.missing("json_schema.schema", "a JSON Schema"));
        yield Optional.of(
            new GrammarSource("schema " + schema, "response_format", () -> JsonGrammar.of(schema)));
      }
      default ->
          throw request.wrong(
              "response_format", format.json(), "the type text, json_object or json_schema");
    };
  }

  /** Reads vLLM's {@code structured_outputs.choice}: one of several texts. */
  private static Optional<GrammarSource> ofTexts(Fields wanted) {
    return wanted
        .array("choice")
        .map(
            texts -> {
              boolean good =
                  !texts.isEmpty() && texts.asList().stream().allMatch(GrammarCache::isText);
              if (!good) {
                throw wanted.wrong("choice", texts, "a list of at least one text");
              }
              return new GrammarSource("choice " + texts, "structured_outputs", () -> oneOf(texts));
            });
  }

  private static boolean isText(JsonElement element) {
    return element.isJsonPrimitive()
        && element.getAsJsonPrimitive().isString()
        && !element.getAsString().isEmpty();
  }

  private static Grammar oneOf(JsonArray texts) {
    return Grammar.choice(
        texts.asList().stream()
            .map(text -> Grammar.literal(text.getAsString()))
            .toArray(Grammar[]::new));
  }

  private synchronized TokenGrammar cached(GrammarSource source) {
    TokenGrammar hit = cached.remove(source.key());
    try {
      cached.put(source.key(), hit == null ? source.grammar().get().forTokenizer(tokenizer) : hit);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField(source.field(), e.getMessage());
    }
    if (cached.size() > MAX_CACHED) {
      cached.remove(cached.keySet().iterator().next());
    }
    return cached.get(source.key());
  }

  /** Returns the grammar of a tool call, with arguments according to the function's schema. */
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

  /**
   * Moves definitions to the new root, since references in a function's schema are relative to it.
   */
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

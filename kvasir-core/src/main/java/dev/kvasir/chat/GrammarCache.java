package dev.kvasir.chat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.OutputFormat;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.runtime.CompiledFormat;
import dev.kvasir.text.Tokenizer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An LRU cache of the grammars that constrain completions, with their token masks. It is
 * thread-safe.
 */
public final class GrammarCache {
  private static final int MAX_CACHED = 64;

  private final Tokenizer tokenizer;
  private final Map<Key, TokenGrammar> cached = new LinkedHashMap<>(); // oldest first

  /**
   * @param functions whose calls are allowed, besides the format
   */
  private record Key(Optional<OutputFormat> format, List<ToolSet.Function> functions) {}

  GrammarCache(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /**
   * Returns the grammar of a completion; empty if it is unconstrained.
   *
   * @throws InvalidInputException if a schema is not supported
   */
  public Optional<TokenGrammar> of(OutputFormat format, ToolSet tools) {
    if (tools.isRequired()) {
      return Optional.of(cached(new Key(Optional.empty(), tools.functions())));
    }
    return switch (format) {
      case OutputFormat.AnyText _ -> Optional.empty();
      case OutputFormat.OneOf _ -> Optional.of(cached(new Key(Optional.of(format), List.of())));
      default -> Optional.of(cached(new Key(Optional.of(format), tools.functions())));
    };
  }

  private synchronized TokenGrammar cached(Key key) {
    TokenGrammar hit = cached.remove(key);
    cached.put(key, hit == null ? grammar(key).forTokenizer(tokenizer) : hit);
    if (cached.size() > MAX_CACHED) {
      cached.remove(cached.keySet().iterator().next());
    }
    return cached.get(key);
  }

  private static Grammar grammar(Key key) {
    if (key.format().isEmpty()) {
      return calls(key.functions());
    }
    Grammar format = CompiledFormat.grammar(key.format().get()).orElseThrow();
    return key.functions().isEmpty() ? format : Grammar.choice(calls(key.functions()), format);
  }

  /** Returns the grammar of a tool call, with arguments according to the function's schema. */
  private static Grammar calls(List<ToolSet.Function> functions) {
    Grammar[] calls =
        functions.stream()
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
  private static JsonObject schema(ToolSet.Function function) {
    JsonObject name = new JsonObject();
    name.addProperty("const", function.name());
    JsonObject properties = new JsonObject();
    properties.add("name", name);
    JsonObject arguments = ToolSet.parse(function.name(), function.schema());
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

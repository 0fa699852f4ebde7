package dev.kvasir.runtime;

import dev.kvasir.OutputFormat;
import dev.kvasir.format.JsonFile;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.text.Tokenizer;
import java.util.List;
import java.util.Optional;

/**
 * An output format and its grammar over the tokens of a model.
 *
 * @param grammar empty for any text
 */
public record CompiledFormat(OutputFormat format, Optional<TokenGrammar> grammar) {
  CompiledFormat(OutputFormat format, Tokenizer tokenizer) {
    this(format, grammar(format).map(known -> known.forTokenizer(tokenizer)));
  }

  /**
   * Returns the grammar of a format; empty for any text.
   *
   * @throws dev.kvasir.error.InvalidInputException if a schema is not supported
   */
  public static Optional<Grammar> grammar(OutputFormat format) {
    return switch (format) {
      case OutputFormat.AnyText _ -> Optional.empty();
      case OutputFormat.JsonObject _ -> Optional.of(JsonGrammar.anyObject());
      case OutputFormat.JsonSchema(String schema) ->
          Optional.of(JsonGrammar.of(JsonFile.parse("the schema of the text", schema).root()));
      case OutputFormat.OneOf(List<String> texts) ->
          Optional.of(Grammar.choice(texts.stream().map(Grammar::literal).toArray(Grammar[]::new)));
      case OutputFormat.Regex(String pattern) -> Optional.of(Grammar.regex(pattern));
      case OutputFormat.Gbnf(String rules) -> Optional.of(Grammar.gbnf(rules));
    };
  }
}

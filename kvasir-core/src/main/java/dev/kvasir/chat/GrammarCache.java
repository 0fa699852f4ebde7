package dev.kvasir.chat;

import dev.kvasir.OutputFormat;
import dev.kvasir.chat.syntax.CallGrammar;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.runtime.CompiledFormat;
import dev.kvasir.text.Tokenizer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An LRU cache of the grammars that constrain completions, with their token masks. It is
 * thread-safe.
 */
public final class GrammarCache {
  private static final int MAX_CACHED = 64;

  private final Tokenizer tokenizer;
  private final CallGrammar calls;
  private final Map<Key, TokenGrammar> cached = new LinkedHashMap<>(); // oldest first

  /**
   * @param functions whose calls are allowed, besides the format
   * @param afterReasoning whether the prompt opened the reasoning
   */
  private record Key(
      Optional<OutputFormat> format, CallableFunctions functions, boolean afterReasoning) {}

  GrammarCache(Tokenizer tokenizer, MessageSyntax syntax) {
    this.tokenizer = tokenizer;
    this.calls = new CallGrammar(syntax, text -> tokenizer.specialToken(text).isPresent());
  }

  /**
   * Returns the grammar of a completion; empty if it is unconstrained.
   *
   * @throws InvalidInputException if a schema is not supported
   */
  public Optional<TokenGrammar> of(OutputFormat format, ToolSet tools) {
    return of(format, tools, false);
  }

  /**
   * Returns the grammar of a completion; empty if it is unconstrained.
   *
   * @param afterReasoning whether the prompt opened the reasoning, which is then unconstrained
   * @throws InvalidInputException if a schema is not supported
   */
  public Optional<TokenGrammar> of(OutputFormat format, ToolSet tools, boolean afterReasoning) {
    if (tools.isRequired()) {
      return Optional.of(cached(new Key(Optional.empty(), tools.callable(), afterReasoning)));
    }
    CallableFunctions functions =
        format instanceof OutputFormat.OneOf ? CallableFunctions.NONE : tools.callable();
    return format instanceof OutputFormat.AnyText
        ? Optional.empty()
        : Optional.of(cached(new Key(Optional.of(format), functions, afterReasoning)));
  }

  private synchronized TokenGrammar cached(Key key) {
    TokenGrammar hit = cached.remove(key);
    cached.put(key, hit == null ? grammar(key).forTokenizer(tokenizer) : hit);
    if (cached.size() > MAX_CACHED) {
      cached.remove(cached.keySet().iterator().next());
    }
    return cached.get(key);
  }

  private Grammar grammar(Key key) {
    Grammar text = text(key);
    return key.afterReasoning() ? calls.afterReasoning(text) : text;
  }

  private Grammar text(Key key) {
    if (key.format().isEmpty()) {
      return calls.call(key.functions());
    }
    Grammar format = CompiledFormat.grammar(key.format().get()).orElseThrow();
    return key.functions().schemas().isEmpty()
        ? format
        : Grammar.choice(calls.call(key.functions()), format);
  }
}

package dev.kvasir.chat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.runtime.GenerationSettings;
import java.util.List;
import java.util.Optional;

/**
 * A parsed request, independent of the API it came from.
 *
 * @param prompt token ids, at least one
 * @param kv the cache spec
 * @param choices completions of the same prompt
 * @param stopSequences texts before which a completion ends
 * @param conversation the caller's name for the conversation, by which its cached prefixes can be
 *     deleted; empty for none
 * @param tenant the owner: requests never use another tenant's cached prefixes
 * @param parserOptions how the generated text is parsed
 */
public record CompletionRequest(
    int[] prompt,
    CacheSpec kv,
    GenerationSettings options,
    int choices,
    List<String> stopSequences,
    Optional<String> conversation,
    String tenant,
    ParserOptions parserOptions) {

  /**
   * @param syntax how the model writes messages; empty if everything is plain text
   * @param functions the functions that may be called
   * @param startsInReasoning whether the prompt opened the reasoning
   */
  public record ParserOptions(
      Optional<MessageSyntax> syntax, CallableFunctions functions, boolean startsInReasoning) {
    /** Everything is plain text. */
    public static final ParserOptions NONE =
        new ParserOptions(Optional.empty(), CallableFunctions.NONE, false);
  }

  public CompletionRequest withTenant(String otherTenant) {
    return new CompletionRequest(
        prompt, kv, options, choices, stopSequences, conversation, otherTenant, parserOptions);
  }

  /** Returns the most tokens that the sequence can reach, prompt included. */
  public int maxTotalTokens() {
    return prompt.length + options.maxTokens();
  }
}

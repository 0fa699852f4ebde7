package dev.kvasir.server.answer;

import dev.kvasir.GenerateOptions;
import dev.kvasir.cache.CacheSpec;
import java.util.List;
import java.util.Optional;

/**
 * What is to be answered, whichever interface it came by.
 *
 * @param prompt token ids, at least one
 * @param kv the kind of cache
 * @param choices answers to the same prompt
 * @param stops phrases that an answer ends before
 * @param conversation by which what is kept of it can be told apart and forgotten; empty for none
 * @param tenant whose it is: nothing that others have read is used for it
 * @param splitting what is told apart in the answer's text
 */
public record CompletionRequest(
    int[] prompt,
    CacheSpec kv,
    GenerateOptions options,
    int choices,
    List<String> stopSequences,
    Optional<String> conversation,
    String tenant,
    ParserOptions parserOptions) {

  /**
   * @param reasoning whether thinking between tags is told apart
   * @param beginsThinking whether the prompt ended with the opening tag
   * @param tools how calls of tools are written; empty where none may be called
   */
  public record ParserOptions(
      boolean reasoning, boolean startsInReasoning, Optional<ToolSyntax> tools) {
    /** Text is text. */
    public static final ParserOptions NONE = new ParserOptions(false, false, Optional.empty());
  }

  public CompletionRequest withTenant(String otherTenant) {
    return new CompletionRequest(
        prompt, kv, options, choices, stopSequences, conversation, otherTenant, parserOptions);
  }

  /** Tokens that its text may grow to, prompt included. */
  public int maxTotalTokens() {
    return prompt.length + options.maxTokens();
  }
}

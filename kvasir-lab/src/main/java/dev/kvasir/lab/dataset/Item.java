package dev.kvasir.lab.dataset;

import java.util.List;
import java.util.function.Predicate;

/**
 * A question of a data set.
 *
 * @param id unique within the data set
 * @param prompt the whole text that the model reads
 * @param chat whether a chat model gets it in its template; few-shot and code prompts stay plain
 * @param maxTokens longest answer
 * @param judges one judge for each metric of the data set
 * @param complete whether an answer so far needs no more tokens
 */
public record Item(
    String id,
    String prompt,
    boolean chat,
    int maxTokens,
    List<Judge> judges,
    Predicate<String> complete) {

  /** Returns an item with one metric whose answers end by themselves. */
  static Item of(String id, String prompt, boolean chat, int maxTokens, Judge judge) {
    return new Item(id, prompt, chat, maxTokens, List.of(judge), answer -> false);
  }

  /** Returns the same item with shorter answers, for a quick run. */
  public Item withMaxTokens(int tokens) {
    return new Item(id, prompt, chat, Math.min(tokens, maxTokens), judges, complete);
  }
}

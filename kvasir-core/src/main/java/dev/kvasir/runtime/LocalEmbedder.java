package dev.kvasir.runtime;

import dev.kvasir.Embedder;
import java.util.List;

/** What a service needs of an embedder besides: tokens, several texts at once, and memory. */
public interface LocalEmbedder extends Embedder {
  /** Returns the tokens of a text, special ones included. */
  int[] encode(String text);

  /** Returns the number of token ids. */
  int vocabulary();

  /**
   * Returns the vectors of texts, in their order.
   *
   * @param atOnce texts that run at once, at most {@link #concurrency}
   * @param check called from time to time, also by other threads; what it throws ends the work
   */
  List<Embedding> embedAll(List<int[]> texts, int atOnce, Runnable check);

  /** Returns how many texts can run at once, each with cache memory of its own. */
  int concurrency();

  /** Returns the most cache memory that a text takes while it runs. */
  long maxBytes(int tokens);

  @Override
  default Embedding embed(int[] tokens) {
    return embedAll(List.of(tokens), 1, () -> {}).getFirst();
  }

  @Override
  default Embedding embed(String text) {
    return embed(encode(text));
  }

  @Override
  default List<Embedding> embed(List<String> texts) {
    return embedAll(texts.stream().map(this::encode).toList(), concurrency(), () -> {});
  }
}

package dev.kvasir.runtime;

import dev.kvasir.Reranker;
import java.util.List;

/** What a service needs of a reranker besides: tokens, several pairs at once, and memory. */
public interface LocalReranker extends Reranker {
  /**
   * A query and a document as one text.
   *
   * @param types for each token 0, or 1 if it belongs to the document and the model asks for it
   */
  record Pair(int[] tokens, int[] types) {}

  /** Returns the tokens of a query and a document. */
  Pair encode(String query, String document);

  /**
   * Returns the scores of pairs, from 0 to 1, in their order.
   *
   * @param atOnce pairs that run at once, at most {@link #concurrency}
   * @param check called from time to time, also by other threads; what it throws ends the work
   */
  List<Float> scoreAll(List<Pair> pairs, int atOnce, Runnable check);

  /** Returns how many pairs can run at once, each with cache memory of its own. */
  int concurrency();

  /** Returns the most cache memory that a pair takes while it runs. */
  long maxBytes(int tokens);

  @Override
  default List<Float> score(String query, List<String> documents) {
    List<Pair> pairs = documents.stream().map(each -> encode(query, each)).toList();
    return scoreAll(pairs, concurrency(), () -> {});
  }

  /** Maps any number to a score from 0 to 1, so that more is better. */
  static float sigmoid(double logit) {
    return (float) (1 / (1 + Math.exp(-logit)));
  }
}

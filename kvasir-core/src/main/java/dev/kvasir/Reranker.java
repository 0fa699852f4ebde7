package dev.kvasir;

import dev.kvasir.runtime.RerankerLoader;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Scores how well documents answer a query. It reads both together, which is slower than comparing
 * vectors of an {@link Embedder} and more exact; it usually sorts the best finds of a search.
 * Several threads may use it at once. Closing it frees the model.
 *
 * <pre>{@code
 * try (Reranker reranker = Reranker.load("hf:BAAI/bge-reranker-base")) {
 *   int best = reranker.rank("How deep is the sea?", documents).getFirst().index();
 * }
 * }</pre>
 *
 * <p>This interface is implemented by Kvasir only.
 */
public interface Reranker extends AutoCloseable {
  /**
   * A document's place among others.
   *
   * @param index of the document in the list that was given
   * @param score from 0 to 1
   */
  record Ranked(int index, float score) {}

  /**
   * Loads a model by name or path, as {@link Model#load(String)} does: an encoder with a
   * classification head, or a decoder that was trained to answer yes or no, as Qwen3-Reranker.
   *
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Reranker load(String model) {
    return load(model, LoadOptions.defaults());
  }

  /**
   * Loads a model by name or path.
   *
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Reranker load(String model, LoadOptions options) {
    return RerankerLoader.load(model, options);
  }

  /**
   * Loads a file or folder.
   *
   * @throws KvasirException if it cannot be read or is not supported
   */
  static Reranker load(Path fileOrFolder, LoadOptions options) {
    return load(fileOrFolder.toString(), options);
  }

  /** Returns the file or folder that it was loaded from. */
  String name();

  /** Returns the maximum tokens of a query and a document together. */
  int maxTokens();

  /**
   * Returns the scores of documents, from 0 to 1, in their order.
   *
   * @throws KvasirException if the query and a document have too many tokens
   */
  List<Float> score(String query, List<String> documents);

  /**
   * Returns the documents by score, the best first.
   *
   * @throws KvasirException if the query and a document have too many tokens
   */
  default List<Ranked> rank(String query, List<String> documents) {
    List<Float> scores = score(query, documents);
    return IntStream.range(0, scores.size())
        .mapToObj(i -> new Ranked(i, scores.get(i)))
        .sorted(Comparator.comparing(Ranked::score).reversed())
        .toList();
  }

  @Override
  void close();
}

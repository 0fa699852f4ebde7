package dev.kvasir;

import dev.kvasir.runtime.EmbedderLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Turns texts into vectors of length one, whose dot product is their similarity. Several threads
 * may use it at once. Closing it frees the model that it loaded.
 *
 * <pre>{@code
 * try (Embedder embedder = Embedder.load("hf:sentence-transformers/all-MiniLM-L6-v2")) {
 *   float[] vector = embedder.embed("The sea is calm.").vector();
 * }
 * }</pre>
 *
 * <p>This interface is implemented by Kvasir only.
 */
public interface Embedder extends AutoCloseable {
  /** How the vectors of a text's tokens become one. */
  enum Pooling {
    /** The mean of all tokens. */
    MEAN,
    /** The first token, which encoders put before a text. */
    FIRST,
    /** The last token, which has seen all others in a decoder. */
    LAST
  }

  /**
   * The vector of a text.
   *
   * @param vector of length one; the caller may keep and change it
   * @param tokens of the text, special ones included
   */
  record Embedding(float[] vector, int tokens) {
    /**
     * Returns the first dimensions alone, scaled to length one again. Their similarities make sense
     * if the model was trained for it (Matryoshka representation learning).
     *
     * @throws IllegalArgumentException unless the vector has that many
     */
    public Embedding truncated(int dimensions) {
      if (dimensions < 1 || dimensions > vector.length) {
        throw new IllegalArgumentException(
            "dimensions is %d; expected 1 to %d".formatted(dimensions, vector.length));
      }
      double squares = 0;
      for (int i = 0; i < dimensions; i++) {
        squares += (double) vector[i] * vector[i];
      }
      double scale = squares == 0 ? 0 : 1 / Math.sqrt(squares);
      float[] first = new float[dimensions];
      for (int i = 0; i < dimensions; i++) {
        first[i] = (float) (vector[i] * scale);
      }
      return new Embedding(first, tokens);
    }
  }

  /**
   * Loads a model by name or path, as {@link Model#load(String)} does: an encoder such as BERT, or
   * any decoder. The pooling is the one that the model's files state, else the mean.
   *
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Embedder load(String model) {
    return load(model, LoadOptions.defaults());
  }

  /**
   * Loads a model by name or path.
   *
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Embedder load(String model, LoadOptions options) {
    return EmbedderLoader.load(model, options, Optional.empty());
  }

  /**
   * Loads a file or folder.
   *
   * @throws KvasirException if it cannot be read or is not supported
   */
  static Embedder load(Path fileOrFolder, LoadOptions options) {
    return load(fileOrFolder.toString(), options);
  }

  /**
   * Loads a model by name or path with another pooling than the one that its files state.
   *
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Embedder load(String model, LoadOptions options, Pooling pooling) {
    return EmbedderLoader.load(model, options, Optional.of(pooling));
  }

  /**
   * Returns an embedder that uses a loaded decoder, which stays open.
   *
   * @throws KvasirException if the model is not on the CPU
   */
  static Embedder of(Model model, Pooling pooling) {
    return EmbedderLoader.of(model, pooling);
  }

  /** Returns the file or folder that it was loaded from. */
  String name();

  /** Returns the length of a vector. */
  int dimensions();

  /** Returns the maximum tokens of a text. */
  int maxTokens();

  /** Returns the pooling in use. */
  Pooling pooling();

  /**
   * Returns the vector of a text.
   *
   * @throws KvasirException if the text has no or too many tokens
   */
  Embedding embed(String text);

  /**
   * Returns the vector of a text in tokens of the model, to which none are added.
   *
   * @throws KvasirException if there are no or too many tokens
   */
  Embedding embed(int[] tokens);

  /**
   * Returns the vectors of texts, in their order, computed several at once.
   *
   * @throws KvasirException if a text has no or too many tokens
   */
  List<Embedding> embed(List<String> texts);

  @Override
  void close();
}

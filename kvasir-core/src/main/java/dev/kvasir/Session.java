package dev.kvasir;

import java.nio.file.Path;

/**
 * A text with its KV cache. One thread at a time may use a session; different sessions of a model
 * are independent, and those that generate at the same time share batches.
 *
 * <p>This interface is implemented by Kvasir only.
 */
public interface Session extends AutoCloseable {
  /** Continues the text with a prompt and generates after it, with default options. */
  default Generation generate(String prompt) {
    return generate(prompt, GenerateOptions.defaults());
  }

  /** Continues the text with a prompt and generates after it. */
  default Generation generate(String prompt, GenerateOptions options) {
    return generate(prompt, options, piece -> {});
  }

  /**
   * Continues the text with a prompt and generates after it.
   *
   * @param listener called on this thread
   * @throws KvasirException if the prompt is empty or does not fit
   */
  Generation generate(String prompt, GenerateOptions options, GenerationListener listener);

  /**
   * Continues the text with tokens and generates after them.
   *
   * @param listener called on this thread
   * @throws KvasirException if there is no token or they do not fit
   */
  Generation generate(int[] prompt, GenerateOptions options, GenerationListener listener);

  /**
   * Saves the session, so that {@link Model#restore(Path)} can continue it, also in another
   * process. The file is written atomically.
   *
   * @throws KvasirException if it cannot be written
   */
  void save(Path file);

  /**
   * Returns another session with the same text, whose keys and values are converted to another
   * cache. They are converted as attention sees them here, so quantization errors remain.
   *
   * @throws KvasirException if that cache quantizes by attention statistics, which are not retained
   */
  Session convertedTo(KvCacheSpec cache);

  /** Drops all text. */
  void reset();

  /** Returns the options that it was opened with. */
  SessionOptions options();

  /** Returns the tokens of the text so far. */
  int length();

  /** Returns the tokens that are cached and need no prefill. */
  int cachedTokens();

  /** Returns the maximum tokens. */
  int contextLimit();

  /** Returns the bytes of the cache. */
  long cacheBytes();

  /** Returns the bits of the whole cache per value that can still be read; 0 for an empty cache. */
  double bitsPerValue();

  @Override
  void close();
}

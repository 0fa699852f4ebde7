package dev.kvasir;

/**
 * The result of a generation.
 *
 * @param promptTokens prefilled tokens, without those cached before
 * @param drafts what speculation contributed
 * @param quantization the part of its time spent on quantizing keys and values
 * @param finish why it ended
 */
public record Generation(
    String text,
    int promptTokens,
    int generatedTokens,
    Drafts drafts,
    long promptNanos,
    long generationNanos,
    Quantization quantization,
    Finish finish) {
  /** The reason why a generation ended. */
  public enum Finish {
    /** The model produced an end-of-text token. */
    END_OF_TEXT,
    /** The requested number of tokens was reached. */
    MAX_TOKENS,
    /** The context is full. */
    CONTEXT_FULL,
    /** The cache's budget is exhausted. */
    CACHE_FULL,
    /** The listener requested it. */
    STOPPED
  }

  /**
   * The tokens that were proposed by speculation.
   *
   * @param proposedTokens tokens that were verified
   * @param acceptedTokens those of them that became part of the text without a step of their own
   */
  public record Drafts(int proposedTokens, int acceptedTokens) {
    public int rejectedTokens() {
      return proposedTokens - acceptedTokens;
    }
  }

  /**
   * The time that a generation spent on quantization, during which its steps waited.
   *
   * @param learnNanos spent on learning from the blocks before they are quantized
   * @param quantizeNanos spent on quantizing them
   * @param requantizeNanos spent on narrowing quantized pages
   */
  public record Quantization(long learnNanos, long quantizeNanos, long requantizeNanos) {
    public long totalNanos() {
      return learnNanos + quantizeNanos + requantizeNanos;
    }
  }

  public double promptTokensPerSecond() {
    return promptNanos == 0 ? 0 : promptTokens * 1e9 / promptNanos;
  }

  public double generatedTokensPerSecond() {
    return generationNanos == 0 ? 0 : generatedTokens * 1e9 / generationNanos;
  }
}

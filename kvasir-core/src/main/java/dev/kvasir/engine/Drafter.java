package dev.kvasir.engine;

/**
 * Proposes tokens that may follow a text, for the request that it belongs to. One step then
 * verifies them all: those that the model itself draws are kept. Used by one thread at a time.
 */
public interface Drafter extends AutoCloseable {
  /** Maximum tokens of a draft: with the token before it, four quads of rows. */
  int MAX_TOKENS = 15;

  /** Starts after a text, of which the first {@code length} tokens count. */
  void begin(int[] text, int length);

  /** Adds the next token of the text. */
  void append(int token);

  /**
   * Writes the tokens that are worth verifying in the next step.
   *
   * @param costs what verifying them costs
   * @param max maximum number of tokens, at least 1
   * @param out at least {@code max}
   * @return their number, which may be 0
   */
  int draft(DraftCosts costs, int max, int[] out);

  @Override
  default void close() {}
}

package dev.kvasir.runtime;

import dev.kvasir.KvasirException;
import dev.kvasir.KvasirException.Reason;
import dev.kvasir.error.InvalidInputException;

/** Checks the tokens of a text before its vector is computed. */
final class EmbeddedText {
  private EmbeddedText() {}

  /**
   * Returns the tokens.
   *
   * @throws KvasirException if there are none or too many: a vector of a part of the text would be
   *     wrong without anybody noticing
   */
  static int[] checked(int[] tokens, int maxTokens, int vocabulary) {
    if (tokens.length == 0) {
      throw new InvalidInputException("the text is empty; expected at least one token");
    }
    if (tokens.length > maxTokens) {
      throw new KvasirException(
          Reason.TOO_LONG,
          "the text has %d tokens; the model embeds at most %d"
              .formatted(tokens.length, maxTokens));
    }
    for (int token : tokens) {
      if (token < 0 || token >= vocabulary) {
        throw new InvalidInputException(
            "the tokenizer returns token %d; the model has %d".formatted(token, vocabulary));
      }
    }
    return tokens;
  }
}

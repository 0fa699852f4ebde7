package dev.kvasir.text;

/** Text to token ids; safe to use from several threads. */
sealed interface Encoder extends AutoCloseable permits HuggingFaceEncoder, SentencePieceEncoder {
  /**
   * The ids of well-formed text. Special tokens written in the text become their ids.
   *
   * @param addSpecialTokens whether to do what the encoder's own file says about tokens around the
   *     text; an encoder whose file leaves that to its reader adds none
   */
  int[] encode(String text, boolean addSpecialTokens);

  @Override
  void close();
}

package dev.kvasir.text;

/** Encodes text to token ids. Implementations are thread-safe. */
sealed interface Encoder extends AutoCloseable permits HuggingFaceEncoder, SentencePieceEncoder {
  /**
   * Returns the ids of well-formed text. Special tokens in the text become their ids.
   *
   * @param addSpecialTokens whether to add the tokens that tokenizer.json puts around a text;
   *     encoders of formats that leave this to the reader add none
   */
  int[] encode(String text, boolean addSpecialTokens);

  @Override
  void close();
}

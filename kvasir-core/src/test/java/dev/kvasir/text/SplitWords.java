package dev.kvasir.text;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Splits text into the words of a pre-tokenizer, by a vocabulary of single bytes. */
final class SplitWords implements AutoCloseable {
  private final TokenizersLibrary library = NativeTokenizers.library();
  private final String[] tokens;
  private final long handle;

  SplitWords(GgufVocabulary singleBytes, PreTokenizer preTokenizer) {
    this.tokens = singleBytes.tokens();
    this.handle = library.createTokenizerFromString(BpeJson.ofBytes(singleBytes, preTokenizer));
  }

  List<String> of(String text) {
    long encoding = library.encode(handle, text, false);
    try {
      long[] ids = library.getTokenIds(encoding);
      long[] wordIds = library.getWordIds(encoding);
      List<String> words = new ArrayList<>();
      for (int from = 0, to; from < ids.length; from = to) {
        ByteArrayOutputStream word = new ByteArrayOutputStream();
        for (to = from; to < ids.length && wordIds[to] == wordIds[from]; to++) {
          word.writeBytes(TokenEncoding.BYTE_LEVEL.bytes(tokens[(int) ids[to]]));
        }
        words.add(word.toString(StandardCharsets.UTF_8));
      }
      return words;
    } finally {
      library.deleteEncoding(encoding);
    }
  }

  @Override
  public void close() {
    library.deleteTokenizer(handle);
  }
}

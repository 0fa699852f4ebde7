package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.SafetensorsFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The tokenizer of an encoder, which only encodes: any tokenizer.json, among them the word pieces
 * of BERT, with the special tokens that it puts around a text. It is thread-safe.
 */
public final class WordPieces implements AutoCloseable {
  private final HuggingFaceEncoder encoder;

  /**
   * Two texts as one.
   *
   * @param types for each id 0, or 1 if it belongs to the second text of a model that tells them
   *     apart
   */
  public record Pair(int[] ids, int[] types) {}

  private WordPieces(HuggingFaceEncoder encoder) {
    this.encoder = encoder;
  }

  /** Reads tokenizer.json of a folder. */
  public static WordPieces ofFolder(Path folder) {
    NativeTokenizers.prepare();
    Path file = SafetensorsFolder.require(folder, "tokenizer.json");
    try {
      return new WordPieces(new HuggingFaceEncoder(file.toString(), Files.readString(file)));
    } catch (IOException e) {
      throw new InvalidInputException(file + ": cannot be read as UTF-8: " + e.getMessage(), e);
    }
  }

  /** Reads the vocabulary of a GGUF file; the name is for error messages. */
  public static WordPieces ofGguf(String fileName, GgufMetadata metadata) {
    NativeTokenizers.prepare();
    return new WordPieces(new HuggingFaceEncoder(fileName, WordPieceJson.of(fileName, metadata)));
  }

  /** Returns the ids of a text with the special tokens around it. */
  public int[] encode(String text) {
    return encoder.encode(Tokenizer.wellFormed(text), true);
  }

  /** Returns two texts as the model reads them together. */
  public Pair encodePair(String first, String second) {
    return encoder.encodePair(Tokenizer.wellFormed(first), Tokenizer.wellFormed(second));
  }

  @Override
  public void close() {
    encoder.close();
  }
}

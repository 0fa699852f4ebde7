package dev.kvasir.text;

import dev.kvasir.format.GgufMetadata;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Text to token ids and back, as a model's own files define it. Safe to use from several threads;
 * closing frees native memory, after which decoding still works and encoding does not.
 */
public final class Tokenizer implements AutoCloseable {
  private final Encoder encoder;
  private final Affixes affixes;
  private final Vocabulary vocabulary;
  private final SpecialTokens special;
  private final String description;
  private final Optional<String> chatTemplate;

  Tokenizer(
      Encoder encoder,
      Affixes affixes,
      Vocabulary vocabulary,
      SpecialTokens special,
      String description,
      Optional<String> chatTemplate) {
    this.encoder = encoder;
    this.affixes = affixes;
    this.vocabulary = vocabulary;
    this.special = special;
    this.description = description;
    this.chatTemplate = chatTemplate;
  }

  /**
   * Begins to load what byte-level vocabularies need, 0.1 to 0.2 s of another thread, for who knows
   * that one will be read and has something else to do first.
   */
  public static void preloadByteLevel() {
    NativeTokenizers.prepare();
  }

  /** Reads tokenizer.json and, where present, the configuration files around it. */
  public static Tokenizer ofFolder(Path huggingFaceFolder) {
    return HuggingFaceTokenizer.read(huggingFaceFolder);
  }

  /** Reads the vocabulary at the head of a GGUF file; the name is for messages. */
  public static Tokenizer ofGguf(String fileName, GgufMetadata metadata) {
    return GgufTokenizer.read(fileName, metadata);
  }

  /** The ids of a text, with the tokens before and after it that the model's files ask for. */
  public int[] encode(String text) {
    return encode(text, true);
  }

  /**
   * The ids of a text. Special tokens written in it are recognised, so a rendered chat prompt,
   * which begins with its own BOS, is encoded without adding any.
   */
  public int[] encode(String text, boolean addSpecialTokens) {
    int[] ids = encoder.encode(wellFormed(text), addSpecialTokens);
    return addSpecialTokens ? affixes.around(ids) : ids;
  }

  /**
   * The text of ids, special tokens included. Bytes that are no UTF-8 become U+FFFD. The space that
   * SentencePiece puts before a text is kept, for ids mostly continue something.
   */
  public String decode(int[] ids) {
    return decode(ids, false);
  }

  public String decode(int[] ids, boolean skipSpecialTokens) {
    return vocabulary.decode(ids, skipSpecialTokens);
  }

  /** Decodes ids as they are generated. */
  public TextStream stream(boolean skipSpecialTokens) {
    return new TextStream(vocabulary, skipSpecialTokens);
  }

  /** One more than the highest id of any token. */
  public int vocabularySize() {
    return vocabulary.size();
  }

  /** The token as the vocabulary writes it, which is not always the text it decodes to. */
  public String tokenText(int id) {
    return vocabulary.text(id);
  }

  /**
   * What the token adds to a text: it may be a part of a character; empty where it adds nothing.
   */
  public byte[] tokenBytes(int id) {
    byte[] bytes = new byte[vocabulary.byteCount(id)];
    if (bytes.length > 0) {
      vocabulary.copyBytes(id, bytes, 0);
    }
    return bytes;
  }

  public boolean isSpecial(int id) {
    return vocabulary.isSpecial(id);
  }

  public OptionalInt bos() {
    return special.bos();
  }

  /** What chat templates call {@code bos_token}. */
  public Optional<String> bosText() {
    return special.bosText();
  }

  /** What chat templates call {@code eos_token}. */
  public Optional<String> eosText() {
    return special.eosText();
  }

  /** All ids after which a generation is over; empty where the files name none. */
  public Set<Integer> endOfText() {
    return special.endOfText();
  }

  /** The Jinja source that turns messages into a prompt. */
  public Optional<String> chatTemplate() {
    return chatTemplate;
  }

  /** A short description, such as "byte-level BPE, 8192 tokens, pre-tokenizer qwen2". */
  public String description() {
    return description;
  }

  @Override
  public void close() {
    encoder.close();
  }

  /**
   * Half a surrogate pair has no UTF-8 form and would garble all of the text: it becomes U+FFFD.
   */
  private static String wellFormed(String text) {
    StringBuilder repaired = null;
    for (int at = 0; at < text.length(); at++) {
      int codePoint = text.codePointAt(at);
      if (Character.isSupplementaryCodePoint(codePoint)) {
        at++;
      } else if (Character.isSurrogate((char) codePoint)) {
        repaired = repaired == null ? new StringBuilder(text) : repaired;
        repaired.setCharAt(at, '\uFFFD');
      }
    }
    return repaired == null ? text : repaired.toString();
  }
}

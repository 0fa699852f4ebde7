package dev.kvasir.text;

import dev.kvasir.format.GgufMetadata;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Encodes text to token ids and decodes ids, as the model's files define. A tokenizer is
 * thread-safe. Closing it frees native memory; decoding then still works, encoding does not.
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
   * Starts to load the native library of byte-level vocabularies in the background (0.1 to 0.2 s).
   */
  public static void preloadByteLevel() {
    NativeTokenizers.prepare();
  }

  /** Reads tokenizer.json and, if present, the configuration files next to it. */
  public static Tokenizer ofFolder(Path huggingFaceFolder) {
    return HuggingFaceTokenizer.read(huggingFaceFolder);
  }

  /** Reads the vocabulary of a GGUF file; the name is for error messages. */
  public static Tokenizer ofGguf(String fileName, GgufMetadata metadata) {
    return GgufTokenizer.read(fileName, metadata);
  }

  /** Returns the ids of a text, including the special tokens that the model adds around it. */
  public int[] encode(String text) {
    return encode(text, true);
  }

  /**
   * Returns the ids of a rendered conversation. It begins with BOS if texts do: most templates
   * write it, and for the rest, such as TinyLlama's, it is added.
   */
  public int[] encodePrompt(String rendered) {
    int[] ids = encode(rendered, false);
    int[] first = encode("", true);
    if (bos().isEmpty() || first.length == 0 || first[0] != bos().getAsInt()) {
      return ids;
    }
    return ids.length > 0 && ids[0] == first[0] ? ids : joined(first[0], ids);
  }

  private static int[] joined(int first, int[] rest) {
    int[] all = new int[rest.length + 1];
    all[0] = first;
    System.arraycopy(rest, 0, all, 1, rest.length);
    return all;
  }

  /** Returns the ids of a text. Special tokens in it are recognised. */
  public int[] encode(String text, boolean addSpecialTokens) {
    int[] ids = encoder.encode(wellFormed(text), addSpecialTokens);
    return addSpecialTokens ? affixes.around(ids) : ids;
  }

  /**
   * Returns the text of ids, special tokens included. Invalid UTF-8 becomes U+FFFD. A leading
   * SentencePiece space is kept, since ids usually continue a text.
   */
  public String decode(int[] ids) {
    return decode(ids, false);
  }

  public String decode(int[] ids, boolean skipSpecialTokens) {
    return vocabulary.decode(ids, skipSpecialTokens);
  }

  /** Returns a stream that decodes ids incrementally. */
  public TextStream stream(boolean skipSpecialTokens) {
    return new TextStream(vocabulary, skipSpecialTokens);
  }

  /** Returns a stream that decodes ids incrementally, without special tokens except these. */
  public TextStream stream(Set<Integer> visibleSpecialTokens) {
    return new TextStream(vocabulary, true, visibleSpecialTokens);
  }

  /** Returns the special token with this text. */
  public OptionalInt specialToken(String text) {
    OptionalInt id = vocabulary.find(text);
    return id.isPresent() && isSpecial(id.getAsInt()) ? id : OptionalInt.empty();
  }

  /** Returns the highest token id plus one. */
  public int vocabularySize() {
    return vocabulary.size();
  }

  /** Returns the token as the vocabulary spells it, which may differ from its decoded text. */
  public String tokenText(int id) {
    return vocabulary.text(id);
  }

  /** Returns the bytes that the token adds to a text: possibly part of a character, or nothing. */
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

  /** Returns the {@code bos_token} of chat templates. */
  public Optional<String> bosText() {
    return special.bosText();
  }

  /** Returns the {@code eos_token} of chat templates. */
  public Optional<String> eosText() {
    return special.eosText();
  }

  /** Returns all ids that end a generation; may be empty. */
  public Set<Integer> endOfText() {
    return special.endOfText();
  }

  /** Returns the Jinja source of the chat template. */
  public Optional<String> chatTemplate() {
    return chatTemplate;
  }

  /** Returns a short description, such as "byte-level BPE, 8192 tokens, pre-tokenizer qwen2". */
  public String description() {
    return description;
  }

  @Override
  public void close() {
    encoder.close();
  }

  /** Replaces unpaired surrogates by U+FFFD: they have no UTF-8 form and would garble the text. */
  static String wellFormed(String text) {
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

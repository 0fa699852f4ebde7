package dev.kvasir.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.OptionalInt;

/**
 * What each token id stands for. Decoding concatenates the tokens' bytes, so these lie in one
 * array: token {@code id} is {@code bytes[starts[id]]} up to {@code bytes[starts[id + 1]]}.
 *
 * <p>Ids from {@link #budgetSize()} on are legal and empty: models pad their output layer beyond
 * the vocabulary.
 */
final class Vocabulary {
  private final String[] texts; // (size), null where an id names no token
  private final BitSet special;
  private final byte[] bytes;
  private final int[] starts; // (size + 1)

  /**
   * @param texts the tokens as their file writes them
   * @param literal the ids whose text is meant as it stands, whatever the coding
   * @param special the ids that control a model and are no text
   */
  Vocabulary(String[] texts, TokenEncoding encoding, BitSet literal, BitSet special) {
    this.texts = texts;
    this.special = special;
    this.starts = new int[texts.length + 1];
    byte[] all = new byte[texts.length * 8];
    for (int id = 0; id < texts.length; id++) {
      byte[] token =
          texts[id] == null
              ? new byte[0]
              : literal.get(id) ? TokenEncoding.literal(texts[id]) : encoding.bytes(texts[id]);
      int end = starts[id] + token.length;
      if (end > all.length) {
        all = Arrays.copyOf(all, Math.max(end, all.length * 2));
      }
      System.arraycopy(token, 0, all, starts[id], token.length);
      starts[id + 1] = end;
    }
    this.bytes = Arrays.copyOf(all, starts[texts.length]);
  }

  int size() {
    return texts.length;
  }

  /** The token as its file writes it; empty where the id names none. */
  String text(int id) {
    check(id);
    return id >= texts.length || texts[id] == null ? "" : texts[id];
  }

  boolean isSpecial(int id) {
    check(id);
    return special.get(id);
  }

  /** Looks through all tokens: meant for the few that configuration files name. */
  OptionalInt find(String text) {
    for (int id = 0; id < texts.length; id++) {
      if (text.equals(texts[id])) {
        return OptionalInt.of(id);
      }
    }
    return OptionalInt.empty();
  }

  int byteCount(int id) {
    check(id);
    return id >= texts.length ? 0 : starts[id + 1] - starts[id];
  }

  void copyBytes(int id, byte[] target, int offset) {
    System.arraycopy(bytes, starts[id], target, offset, starts[id + 1] - starts[id]);
  }

  String decode(int[] ids, boolean skipSpecialTokens) {
    int length = 0;
    for (int id : ids) {
      length += skipSpecialTokens && isSpecial(id) ? 0 : byteCount(id);
    }
    byte[] text = new byte[length];
    int end = 0;
    for (int id : ids) {
      int count = skipSpecialTokens && isSpecial(id) ? 0 : byteCount(id);
      if (count > 0) {
        copyBytes(id, text, end);
        end += count;
      }
    }
    return new String(text, StandardCharsets.UTF_8);
  }

  private static void check(int id) {
    if (id < 0) {
      throw new IllegalArgumentException("token id %d; expected 0 or more".formatted(id));
    }
  }
}

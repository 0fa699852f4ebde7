package dev.kvasir.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.OptionalInt;

/**
 * The bytes of every token id, in one array: token {@code id} is {@code bytes[starts[id]]} up to
 * {@code bytes[starts[id + 1]]}. Decoding concatenates them.
 *
 * <p>Ids from {@link #size()} on are valid and empty, since models pad their output layer.
 */
final class Vocabulary {
  private final String[] texts; // (size), null for an unused id
  private final BitSet special;
  private final byte[] bytes;
  private final int[] starts; // (size + 1)

  /**
   * @param texts the tokens as their file spells them
   * @param literal ids of added tokens, whose text is not encoded
   * @param special ids of control tokens, which are not text
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

  /** Returns the token as its file spells it; empty for an unused id. */
  String text(int id) {
    check(id);
    return id >= texts.length || texts[id] == null ? "" : texts[id];
  }

  boolean isSpecial(int id) {
    check(id);
    return special.get(id);
  }

  /** Searches all tokens; meant for the few in configuration files. */
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

package dev.kvasir.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/**
 * Decodes token ids to text incrementally. A character may span several tokens; its bytes are
 * buffered until it is complete, so returned text never changes. All pushes and the finish
 * concatenate to {@link Tokenizer#decode} of the same ids.
 *
 * <p>The text continues a prompt, so a leading space is kept. A stream is not thread-safe; each
 * push allocates only the string it returns.
 */
public final class TextStream {
  private final Vocabulary vocabulary;
  private final boolean skipSpecialTokens;
  private final Set<Integer> visible;

  /** At most 3 bytes remain between pushes, since a UTF-8 character has at most 4. */
  private byte[] pending = new byte[64];

  private int length;

  TextStream(Vocabulary vocabulary, boolean skipSpecialTokens) {
    this(vocabulary, skipSpecialTokens, Set.of());
  }

  /**
   * @param visible special tokens that are not skipped
   */
  TextStream(Vocabulary vocabulary, boolean skipSpecialTokens, Set<Integer> visible) {
    this.vocabulary = vocabulary;
    this.visible = visible;
    this.skipSpecialTokens = skipSpecialTokens;
  }

  /** Returns the text that this token completes; empty in the middle of a character. */
  public String push(int id) {
    int count = vocabulary.byteCount(id);
    if (count == 0 || isSkipped(id)) {
      return "";
    }
    if (length + count > pending.length) {
      pending = Arrays.copyOf(pending, (length + count) * 2);
    }
    vocabulary.copyBytes(id, pending, length);
    length += count;
    return take(length - incompleteBytes());
  }

  private boolean isSkipped(int id) {
    return skipSpecialTokens && vocabulary.isSpecial(id) && !visible.contains(id);
  }

  /** Returns the remaining text, an incomplete character as U+FFFD, and resets the stream. */
  public String finish() {
    return take(length);
  }

  private String take(int count) {
    if (count == 0) {
      return "";
    }
    String text = new String(pending, 0, count, StandardCharsets.UTF_8);
    System.arraycopy(pending, count, pending, 0, length - count);
    length -= count;
    return text;
  }

  /**
   * Returns the number of trailing bytes of an incomplete character. They start with a lead byte,
   * which never belongs to the previous character, so cutting there does not change the text.
   */
  private int incompleteBytes() {
    for (int back = 1; back <= Math.min(3, length); back++) {
      int value = pending[length - back] & 0xFF;
      if (value < 0x80) {
        return 0;
      }
      if (value >= 0xC0) {
        int whole = value >= 0xF0 ? 4 : value >= 0xE0 ? 3 : 2;
        return whole > back ? back : 0;
      }
    }
    return 0;
  }
}

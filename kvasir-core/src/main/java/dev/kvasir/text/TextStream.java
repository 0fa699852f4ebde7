package dev.kvasir.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Turns token ids into text as they come. A character may be spread over several tokens: its bytes
 * are held back until it is whole, so what has been returned never changes. All pushes and the
 * finish together are {@link Tokenizer#decode} of the same ids.
 *
 * <p>The text continues a prompt, so a leading space is kept. One stream belongs to one thread;
 * each push allocates only the string it returns.
 */
public final class TextStream {
  private final Vocabulary vocabulary;
  private final boolean skipSpecialTokens;

  /** At most 3 bytes wait here between pushes: UTF-8 characters have 4 at most. */
  private byte[] pending = new byte[64];

  private int length;

  TextStream(Vocabulary vocabulary, boolean skipSpecialTokens) {
    this.vocabulary = vocabulary;
    this.skipSpecialTokens = skipSpecialTokens;
  }

  /** The text that this token completes, often empty in the midst of a character. */
  public String push(int id) {
    int count = vocabulary.byteCount(id);
    if (count == 0 || skipSpecialTokens && vocabulary.isSpecial(id)) {
      return "";
    }
    if (length + count > pending.length) {
      pending = Arrays.copyOf(pending, (length + count) * 2);
    }
    vocabulary.copyBytes(id, pending, length);
    length += count;
    return take(length - incompleteBytes());
  }

  /** What still waits, half a character as U+FFFD; the stream then starts anew. */
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
   * Bytes at the end that may be the beginning of a character. They start with a lead byte, which
   * never belongs to what precedes it, so text cut there decodes as it would uncut.
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

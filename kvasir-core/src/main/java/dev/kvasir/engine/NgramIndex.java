package dev.kvasir.engine;

import java.util.Arrays;

/**
 * A growing text with the last occurrence of each of its n-grams, for a few lengths n. A look-up
 * and an insertion take a constant number of table accesses.
 *
 * <pre>
 * (lengths, capacity)  i32   by hash: the position after the n-gram; 0 if there is none
 * bytes = 4 * lengths * capacity,   capacity = 2 to 4 times the tokens
 * </pre>
 *
 * An n-gram replaces another one of the same hash. Look-ups compare tokens, so that costs a match
 * at times and is never wrong.
 */
final class NgramIndex {
  /** The longest first: a longer match is a better one. */
  private static final int[] LENGTHS = {8, 4, 2};

  static final int MAX_INDEXED = LENGTHS[0];

  /** Tokens up to which the length of a match is determined. */
  private static final int MAX_MATCH = 32;

  private static final int MIN_TOKENS = 512;

  /** Beyond it, later n-grams replace earlier ones, so that long texts take little heap. */
  private static final int MAX_SLOTS = 1 << 16;

  private static final int HASH_FACTOR = 0x9E3779B1; // 2^32 divided by the golden ratio

  private int[] text = new int[MIN_TOKENS];
  private int length;
  private int[][] ends = new int[LENGTHS.length][2 * MIN_TOKENS];

  int length() {
    return length;
  }

  int token(int position) {
    return text[position];
  }

  void clear() {
    length = 0;
    for (int[] table : ends) {
      Arrays.fill(table, 0);
    }
  }

  /** Appends a token. Its n-grams are not indexed yet, so that a look-up finds earlier ones. */
  void append(int token) {
    if (length == text.length) {
      grow();
    }
    text[length++] = token;
  }

  private void grow() {
    text = Arrays.copyOf(text, 2 * length);
    int slots = Math.min(4 * length, MAX_SLOTS);
    if (slots > ends[0].length) {
      ends = new int[LENGTHS.length][slots];
      for (int end = 1; end <= length; end++) {
        index(end);
      }
    }
  }

  /** Indexes the n-grams at the end of the text. */
  void indexEnd() {
    index(length);
  }

  private void index(int end) {
    for (int i = 0; i < LENGTHS.length; i++) {
      if (end >= LENGTHS[i]) {
        ends[i][slot(end, LENGTHS[i])] = end;
      }
    }
  }

  private int slot(int end, int n) {
    int hash = n;
    for (int i = end - n; i < end; i++) {
      hash = (hash ^ text[i]) * HASH_FACTOR;
      hash ^= hash >>> 15;
    }
    return hash & ends[0].length - 1;
  }

  /** Returns the position after the longest indexed match with the end of the text; 0 for none. */
  int findMatch() {
    for (int i = 0; i < LENGTHS.length; i++) {
      int end = length < LENGTHS[i] ? 0 : ends[i][slot(length, LENGTHS[i])];
      if (end > 0 && matchLength(end) >= LENGTHS[i]) {
        return end;
      }
    }
    return 0;
  }

  /** Returns how many tokens before a position equal those at the end of the text. */
  int matchLength(int position) {
    int matched = 0;
    while (matched < Math.min(position, MAX_MATCH)
        && text[position - 1 - matched] == text[length - 1 - matched]) {
      matched++;
    }
    return matched;
  }
}

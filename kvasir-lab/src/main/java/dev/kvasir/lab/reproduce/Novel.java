package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.text.BundledText;

/** Pieces of the bundled novel; encoding all of it would take longer than a quick run. */
final class Novel {
  /** More characters than a token has on average, with any tokenizer. */
  private static final int CHARS_PER_TOKEN = 12;

  private Novel() {}

  /** Returns the start, with at least as many tokens if the novel has them. */
  static String start(int tokens) {
    return piece(0, tokens);
  }

  /** Returns a piece that starts at a character, or as close to the end as its length allows. */
  static String piece(int from, int tokens) {
    String all = BundledText.book();
    int length = (int) Math.min(all.length(), (long) CHARS_PER_TOKEN * tokens);
    int start = Math.min(from, all.length() - length);
    return all.substring(start, start + length);
  }
}

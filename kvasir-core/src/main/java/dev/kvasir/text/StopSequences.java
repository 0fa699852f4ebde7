package dev.kvasir.text;

import java.util.List;

/**
 * Cuts streamed text before the first stop sequence. A possible prefix of one is buffered until
 * more text decides.
 */
public final class StopSequences {
  private final List<String> phrases;
  private String pending = "";
  private boolean found;

  public StopSequences(List<String> phrases) {
    this.phrases = phrases;
  }

  /** Adds a piece; returns the text that precedes every stop sequence for certain. */
  public String push(String piece) {
    if (found || phrases.isEmpty()) {
      return found ? "" : piece;
    }
    String text = pending + piece;
    int cut = firstMatch(text);
    if (cut >= 0) {
      found = true;
      pending = "";
      return text.substring(0, cut);
    }
    int keep = partialMatchLength(text);
    pending = text.substring(text.length() - keep);
    return text.substring(0, text.length() - keep);
  }

  private int firstMatch(String text) {
    int first = -1;
    for (String phrase : phrases) {
      int at = text.indexOf(phrase);
      first = at >= 0 && (first < 0 || at < first) ? at : first;
    }
    return first;
  }

  /** Returns the length of a suffix that may start a stop sequence. */
  private int partialMatchLength(String text) {
    int longest = 0;
    for (String phrase : phrases) {
      int keep = Math.min(phrase.length() - 1, text.length());
      while (keep > longest && !text.endsWith(phrase.substring(0, keep))) {
        keep--;
      }
      longest = Math.max(longest, keep);
    }
    return longest;
  }

  /** Returns whether a stop sequence was found. */
  public boolean found() {
    return found;
  }

  /** Returns the buffered text at the end of the stream. */
  public String finish() {
    String rest = pending;
    pending = "";
    return rest;
  }
}

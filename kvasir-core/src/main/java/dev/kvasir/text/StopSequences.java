package dev.kvasir.text;

import java.util.List;

/**
 * Cuts a stream of text before the first of some phrases. What could be the beginning of one is
 * held back until more text decides.
 */
public final class StopSequences {
  private final List<String> phrases;
  private String pending = "";
  private boolean found;

  public StopSequences(List<String> phrases) {
    this.phrases = phrases;
  }

  /** Takes a piece and gives the text that is surely before all phrases. */
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

  /** Characters at the end that may be the beginning of a phrase. */
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

  /** Whether a phrase has come. */
  public boolean found() {
    return found;
  }

  /** What was held back, when no more text comes. */
  public String finish() {
    String rest = pending;
    pending = "";
    return rest;
  }
}

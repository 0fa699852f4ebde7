package dev.kvasir.text;

import java.util.List;
import java.util.Optional;

/**
 * Cuts streamed text before the first stop sequence. A possible prefix of one is buffered until
 * more text decides.
 */
public final class StopSequences {
  private final List<String> phrases;
  private String pending = "";
  private String found; // null until a match

  public StopSequences(List<String> phrases) {
    this.phrases = phrases;
  }

  /** Adds a piece; returns the text that precedes every stop sequence for certain. */
  public String push(String piece) {
    if (found != null || phrases.isEmpty()) {
      return found == null ? piece : "";
    }
    String text = pending + piece;
    found = firstMatch(text);
    if (found != null) {
      pending = "";
      return text.substring(0, text.indexOf(found));
    }
    int keep = partialMatchLength(text);
    pending = text.substring(text.length() - keep);
    return text.substring(0, text.length() - keep);
  }

  /** Returns the phrase that comes first; null if there is none. */
  private String firstMatch(String text) {
    String first = null;
    int firstAt = text.length();
    for (String phrase : phrases) {
      int at = text.indexOf(phrase);
      if (at >= 0 && (first == null || at < firstAt)) {
        first = phrase;
        firstAt = at;
      }
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
    return found != null;
  }

  /** Returns the stop sequence that was found. */
  public Optional<String> match() {
    return Optional.ofNullable(found);
  }

  /** Returns the buffered text at the end of the stream. */
  public String finish() {
    String rest = pending;
    pending = "";
    return rest;
  }
}

package dev.kvasir.cli.run;

/**
 * Cuts a stream of text before a phrase. What could be the phrase's beginning is held back until
 * more text decides.
 */
final class StopText {
  private final String phrase;
  private String held = "";
  private boolean found;

  StopText(String phrase) {
    this.phrase = phrase;
  }

  /** Takes a piece and gives the text that is surely before the phrase. */
  String push(String piece) {
    if (found) {
      return "";
    }
    String text = held + piece;
    int at = text.indexOf(phrase);
    if (at >= 0) {
      found = true;
      held = "";
      return text.substring(0, at);
    }
    int keep = Math.min(phrase.length() - 1, text.length());
    while (!phrase.startsWith(text.substring(text.length() - keep))) {
      keep--;
    }
    held = text.substring(text.length() - keep);
    return text.substring(0, text.length() - keep);
  }

  /** Whether the phrase has come. */
  boolean found() {
    return found;
  }

  /** What was held back, when no more text comes. */
  String finish() {
    String rest = held;
    held = "";
    return rest;
  }
}

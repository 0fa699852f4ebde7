package dev.kvasir.chat.syntax;

import java.util.List;

/**
 * Finds markers in streamed text. Text that may begin a marker is held until more text decides. No
 * marker may be a prefix of another one.
 */
final class MarkerScanner {
  private final List<String> markers;
  private final CharSink outside;
  private final StringBuilder held = new StringBuilder();

  /**
   * @param outside receives the text outside markers
   */
  MarkerScanner(List<String> markers, CharSink outside) {
    this.markers = List.copyOf(markers);
    this.outside = outside;
  }

  /** Returns the marker that the character completes, or null. */
  String accept(char c) {
    held.append(c);
    while (!held.isEmpty()) {
      String match = match();
      if (match == null) {
        outside.accept(held.charAt(0));
        held.deleteCharAt(0);
      } else if (match.length() == held.length()) {
        held.setLength(0);
        return match;
      } else {
        return null;
      }
    }
    return null;
  }

  /** Returns a marker that begins with the held text, or null. */
  private String match() {
    for (String marker : markers) {
      if (held.length() <= marker.length() && marker.startsWith(held.toString())) {
        return marker;
      }
    }
    return null;
  }

  /** Returns whether text is held that may begin a marker. */
  boolean isHolding() {
    return !held.isEmpty();
  }

  /** Passes on the held text at the end. */
  void finish() {
    outside.accept(held);
    held.setLength(0);
  }
}

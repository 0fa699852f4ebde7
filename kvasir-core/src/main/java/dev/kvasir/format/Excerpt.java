package dev.kvasir.format;

/**
 * Shortens a text from a file for an error message, since a malicious file may have names of
 * megabytes.
 */
final class Excerpt {
  private static final int MAX_CHARACTERS = 80;

  private Excerpt() {}

  static String of(String text) {
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS) + "...";
  }
}

package dev.kvasir.format;

/**
 * The beginning of a text from a file, for a message: a name in a hostile file may be megabytes
 * long.
 */
final class Excerpt {
  private static final int MAX_CHARACTERS = 80;

  private Excerpt() {}

  static String of(String text) {
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS) + "...";
  }
}

package dev.kvasir.error;

/**
 * Thrown when something that a user provided cannot be used. The message is one sentence for that
 * user: what was found, where, and what was expected. The command line prints it unchanged. Since
 * parts of it may come from a hostile file, characters that could move a terminal's cursor or split
 * the line are replaced.
 */
public class InvalidInputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public InvalidInputException(String sentence) {
    super(printable(sentence));
  }

  public InvalidInputException(String sentence, Throwable cause) {
    super(printable(sentence), cause);
  }

  private static String printable(String sentence) {
    StringBuilder line = new StringBuilder(sentence.length());
    sentence.codePoints().map(c -> isPrintable(c) ? c : 0xFFFD).forEach(line::appendCodePoint);
    return line.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}

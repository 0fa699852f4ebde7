package dev.kvasir.cli.session;

import dev.kvasir.error.InvalidInputException;
import java.util.regex.Pattern;

/** The name of a session, used only as part of a file name. */
public record SessionName(String text) {
  /** Excludes path separators and hidden files. */
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

  public SessionName {
    if (!isAllowed(text)) {
      throw new InvalidInputException(
          "the session's name is '%s'; expected 1 to 64 of a to z, A to Z, 0 to 9, '.', '_' and '-', the first a letter or a digit"
              .formatted(text));
    }
  }

  static boolean isAllowed(String text) {
    return ALLOWED.matcher(text).matches();
  }

  @Override
  public String toString() {
    return text;
  }
}

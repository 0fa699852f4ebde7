package dev.kvasir.lab.answer;

import java.util.Optional;

/** Finds the result that a solution puts in {@code \boxed{...}}. */
public final class BoxedAnswer {
  private static final String BOX = "\\boxed";

  private BoxedAnswer() {}

  /** Returns the content of the last complete box, with nested braces. */
  public static Optional<String> last(String solution) {
    for (int at = solution.lastIndexOf(BOX); at >= 0; at = solution.lastIndexOf(BOX, at - 1)) {
      Optional<String> content = content(solution, at + BOX.length());
      if (content.isPresent()) {
        return content;
      }
    }
    return Optional.empty();
  }

  /** Returns whether a solution has a complete box, after which nothing more is needed. */
  public static boolean isIn(String solution) {
    return last(solution).isPresent();
  }

  private static Optional<String> content(String text, int from) {
    int open = from;
    while (open < text.length() && text.charAt(open) == ' ') {
      open++;
    }
    if (open == text.length() || text.charAt(open) != '{') {
      return Optional.empty();
    }
    int depth = 0;
    for (int i = open; i < text.length(); i++) {
      if (text.charAt(i) == '{') {
        depth++;
      } else if (text.charAt(i) == '}' && --depth == 0) {
        return Optional.of(text.substring(open + 1, i).strip());
      }
    }
    return Optional.empty();
  }
}

package dev.kvasir.lab.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Splits answers into the tokens that metrics of overlap compare. */
public enum Words {
  /** Words in lower case without punctuation and articles. */
  ENGLISH {
    @Override
    public List<String> of(String text) {
      StringBuilder letters = new StringBuilder();
      text.toLowerCase(Locale.ROOT)
          .codePoints()
          .filter(point -> !isAsciiPunctuation(point))
          .forEach(letters::appendCodePoint);
      return split(letters.toString()).stream().filter(word -> !ARTICLES.contains(word)).toList();
    }
  },
  /**
   * Each Han character is a token, and so is each run of other letters and digits. LongBench
   * segments Chinese with a dictionary; characters need none and rank answers alike.
   */
  CHINESE {
    @Override
    public List<String> of(String text) {
      List<String> tokens = new ArrayList<>();
      StringBuilder run = new StringBuilder();
      text.toLowerCase(Locale.ROOT)
          .codePoints()
          .forEach(
              point -> {
                boolean han = Character.isIdeographic(point);
                if (!han && Character.isLetterOrDigit(point)) {
                  run.appendCodePoint(point);
                  return;
                }
                flush(run, tokens);
                if (han) {
                  tokens.add(Character.toString(point));
                }
              });
      flush(run, tokens);
      return tokens;
    }
  },
  /** Words as they stand between white space. */
  PLAIN {
    @Override
    public List<String> of(String text) {
      return split(text);
    }
  };

  private static final Set<String> ARTICLES = Set.of("a", "an", "the");

  /** Returns the tokens of a text in order. */
  public abstract List<String> of(String text);

  private static List<String> split(String text) {
    String stripped = text.strip();
    return stripped.isEmpty() ? List.of() : List.of(stripped.split("\\s+"));
  }

  private static boolean isAsciiPunctuation(int point) {
    return point > ' ' && point < 127 && !Character.isLetterOrDigit(point);
  }

  private static void flush(StringBuilder run, List<String> tokens) {
    if (!run.isEmpty()) {
      tokens.add(run.toString());
      run.setLength(0);
    }
  }
}

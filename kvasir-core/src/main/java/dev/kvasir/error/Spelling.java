package dev.kvasir.error;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what a user may have meant by a word that is unknown. */
public final class Spelling {
  private static final int MAX_CHANGES = 2;

  private Spelling() {}

  /**
   * Returns the known word that differs least from a typed one, in at most two letters and at most
   * half of them.
   */
  public static Optional<String> nearest(String typed, Collection<String> known) {
    int most = Math.min(MAX_CHANGES, typed.length() / 2);
    return known.stream()
        .filter(word -> changes(word, typed) <= most)
        .min(Comparator.comparingInt(word -> changes(word, typed)));
  }

  /** Returns "; did you mean 'WORD'?", or nothing if no known word is near. */
  public static String hint(String typed, Collection<String> known) {
    return nearest(typed, known).map("; did you mean '%s'?"::formatted).orElse("");
  }

  /** Returns "did you mean 'WORD'?", or another text if no known word is near. */
  public static String hintOr(String typed, Collection<String> known, String other) {
    return nearest(typed, known).map("did you mean '%s'?"::formatted).orElse(other);
  }

  /** Returns the Levenshtein distance. */
  private static int changes(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}

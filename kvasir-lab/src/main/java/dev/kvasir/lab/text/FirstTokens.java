package dev.kvasir.lab.text;

import dev.kvasir.text.Tokenizer;
import java.util.Arrays;

/** The first tokens of a text, without encoding all of a long one. */
public final class FirstTokens {
  /** More than most tokens have, so that few texts are encoded twice. */
  private static final int CHARACTERS_PER_TOKEN = 8;

  /** Where a text is cut, tokens may differ from those of the whole. */
  private static final int AT_THE_CUT = 64;

  private FirstTokens() {}

  /** Returns at least {@code count} of the first tokens, or all that the text has. */
  public static int[] of(Tokenizer tokenizer, String text, int count) {
    long characters = (long) CHARACTERS_PER_TOKEN * (count + AT_THE_CUT);
    while (characters < text.length()) {
      int[] ids = tokenizer.encode(text.substring(0, wholeCharacters(text, (int) characters)));
      if (ids.length >= count + AT_THE_CUT) {
        return Arrays.copyOf(ids, ids.length - AT_THE_CUT);
      }
      characters *= 2;
    }
    return tokenizer.encode(text);
  }

  /** Returns a length that cuts no pair of surrogates. */
  private static int wholeCharacters(String text, int length) {
    return Character.isLowSurrogate(text.charAt(length)) ? length - 1 : length;
  }
}

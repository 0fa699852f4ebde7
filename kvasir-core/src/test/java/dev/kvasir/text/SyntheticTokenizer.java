package dev.kvasir.text;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Tokenizers that can decode but not encode: an end-of-text token, a special one, the 256 bytes,
 * then those of the test.
 */
public final class SyntheticTokenizer {
  public static final int END = 0;
  public static final int SPECIAL = 1;
  public static final int FIRST_BYTE = 2;
  public static final int FIRST = FIRST_BYTE + 256;

  public static Tokenizer of(List<byte[]> tokens) {
    String[] texts = new String[FIRST + tokens.size()];
    texts[END] = "<end>";
    texts[SPECIAL] = "a";
    for (int value = 0; value < 256; value++) {
      texts[FIRST_BYTE + value] = String.valueOf(character(value));
    }
    for (int i = 0; i < tokens.size(); i++) {
      StringBuilder text = new StringBuilder();
      for (byte value : tokens.get(i)) {
        text.append(character(value & 0xFF));
      }
      texts[FIRST + i] = text.toString();
    }
    BitSet special = new BitSet();
    special.set(END, FIRST_BYTE);
    return new Tokenizer(
        null,
        Affixes.NONE,
        new Vocabulary(texts, TokenEncoding.BYTE_LEVEL, special, special),
        new SpecialTokens(OptionalInt.empty(), Optional.empty(), Optional.empty(), Set.of(END)),
        "made up",
        Optional.empty());
  }

  /** Returns the 256 bytes in order. */
  public static String[] bytes() {
    String[] texts = new String[256];
    Arrays.setAll(texts, value -> String.valueOf(character(value)));
    return texts;
  }

  /** Returns the byte-level character of a byte. */
  private static char character(int value) {
    if (isPrintable(value)) {
      return (char) value;
    }
    int others = 0;
    for (int below = 0; below < value; below++) {
      others += isPrintable(below) ? 0 : 1;
    }
    return (char) (0x100 + others);
  }

  private static boolean isPrintable(int value) {
    return value >= 0x21 && value <= 0x7E || value >= 0xA1 && value <= 0xFF && value != 0xAD;
  }

  private SyntheticTokenizer() {}
}

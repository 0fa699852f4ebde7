package dev.kvasir.text;

/**
 * Patterns that several pre-tokenizers share, in Oniguruma syntax. Most are one alternation:
 * contractions, letters with the preceding character, digits, punctuation, line ends, and white
 * space except for the last space before a word.
 */
final class SplitPatterns {
  static final String GPT_2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

  private static final String LINE_ENDS_AND_SPACE = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  static final String ONE_DIGIT = byLetters("\\p{N}");

  static final String UP_TO_3_DIGITS = byLetters("\\p{N}{1,3}");

  /** {@link #ONE_DIGIT} with combining marks as letters. */
  static final String WITH_MARKS =
      CONTRACTION
          + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
          + LINE_ENDS_AND_SPACE;

  static final String DEEPSEEK_3 =
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
          + "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*"
          + LINE_ENDS_AND_SPACE;

  static final String BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";

  static final String CJK = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";

  /** {@link #UP_TO_3_DIGITS} with white space in powers of two. */
  static final String HALVED_SPACES =
      UP_TO_3_DIGITS.replace(
          "|\\s+(?!\\S)|\\s+",
          "|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)"
              + "|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}");

  private static final String UPPER = "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}";

  private static final String LOWER = "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}";

  /** {@link #byCase} with Han characters separate. */
  static final String KIMI_K2 =
      "\\p{Han}+|"
          + byCase(
              "[[" + UPPER + "]&&[^\\p{Han}]]",
              "[[" + LOWER + "]&&[^\\p{Han}]]",
              CONTRACTION + "?",
              "\\p{N}{1,3}",
              "[\\r\\n]*");

  /** Letters with case, as listed in DeepSeek's file; no Unicode property matches exactly. */
  static final String CASED_LETTERS =
      "[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-"
          + "\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F"
          + "\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-"
          + "\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-"
          + "\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-"
          + "\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-"
          + "\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-"
          + "\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115"
          + "\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134"
          + "\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-"
          + "\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-"
          + "\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-"
          + "\uFF5A\uD801\uDC00-\uD801\uDC4F\uD801\uDCB0-\uD801\uDCD3"
          + "\uD801\uDCD8-\uD801\uDCFB\uD803\uDC80-\uD803\uDCB2\uD803\uDCC0-\uD803\uDCF2"
          + "\uD806\uDCA0-\uD806\uDCDF\uD83A\uDD00-\uD83A\uDD43]";

  private SplitPatterns() {}

  static String byLetters(String digits) {
    return CONTRACTION
        + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
        + LINE_ENDS_AND_SPACE;
  }

  /** Splits at a capital letter within a word: "HelloWorld" becomes two words. */
  static String byCase(String suffix, String digits) {
    return byCase("[" + UPPER + "]", "[" + LOWER + "]", suffix, digits, "[\\r\\n/]*");
  }

  private static String byCase(
      String upper, String lower, String suffix, String digits, String afterPunctuation) {
    String before = "[^\\r\\n\\p{L}\\p{N}]?";
    return "%1$s%2$s*%3$s+%4$s|%1$s%2$s+%3$s*%4$s|".formatted(before, upper, lower, suffix)
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+"
        + afterPunctuation
        + LINE_ENDS_AND_SPACE;
  }
}

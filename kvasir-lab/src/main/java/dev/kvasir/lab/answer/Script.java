package dev.kvasir.lab.answer;

import java.lang.Character.UnicodeScript;
import java.util.Map;
import java.util.Set;

/**
 * The scripts of a language. An answer is taken to be in a language if most of its letters are of
 * its scripts; languages with the same script are not told apart.
 */
record Script(Set<UnicodeScript> scripts) {
  private static final Script LATIN = new Script(Set.of(UnicodeScript.LATIN));
  private static final Map<String, Script> OTHERS =
      Map.ofEntries(
          Map.entry("ar", of(UnicodeScript.ARABIC)),
          Map.entry("fa", of(UnicodeScript.ARABIC)),
          Map.entry("ur", of(UnicodeScript.ARABIC)),
          Map.entry("bg", of(UnicodeScript.CYRILLIC)),
          Map.entry("ru", of(UnicodeScript.CYRILLIC)),
          Map.entry("uk", of(UnicodeScript.CYRILLIC)),
          Map.entry("hi", of(UnicodeScript.DEVANAGARI)),
          Map.entry("mr", of(UnicodeScript.DEVANAGARI)),
          Map.entry("ne", of(UnicodeScript.DEVANAGARI)),
          Map.entry("bn", of(UnicodeScript.BENGALI)),
          Map.entry("gu", of(UnicodeScript.GUJARATI)),
          Map.entry("kn", of(UnicodeScript.KANNADA)),
          Map.entry("ml", of(UnicodeScript.MALAYALAM)),
          Map.entry("pa", of(UnicodeScript.GURMUKHI)),
          Map.entry("ta", of(UnicodeScript.TAMIL)),
          Map.entry("te", of(UnicodeScript.TELUGU)),
          Map.entry("th", of(UnicodeScript.THAI)),
          Map.entry("he", of(UnicodeScript.HEBREW)),
          Map.entry("el", of(UnicodeScript.GREEK)),
          Map.entry("ko", of(UnicodeScript.HANGUL)),
          Map.entry("zh", of(UnicodeScript.HAN)),
          Map.entry("ja", of(UnicodeScript.HIRAGANA, UnicodeScript.KATAKANA, UnicodeScript.HAN)));

  private static Script of(UnicodeScript... scripts) {
    return new Script(Set.of(scripts));
  }

  /**
   * @param language a code of ISO 639-1; a suffix such as -cn is ignored
   */
  static Script of(String language) {
    return OTHERS.getOrDefault(language.split("-")[0], LATIN);
  }

  boolean dominates(String text) {
    long letters = text.codePoints().filter(Character::isLetter).count();
    long own =
        text.codePoints()
            .filter(Character::isLetter)
            .filter(point -> scripts.contains(UnicodeScript.of(point)))
            .count();
    return letters == 0 || 2 * own > letters;
  }
}

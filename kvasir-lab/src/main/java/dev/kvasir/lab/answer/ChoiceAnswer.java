package dev.kvasir.lab.answer;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the letter that an answer to a multiple-choice question settles on. */
public final class ChoiceAnswer {
  private static final Pattern LETTER = Pattern.compile("(?<![A-Za-z])([A-Z])(?![A-Za-z'])");
  private static final Pattern STATED =
      Pattern.compile("(?i:answer|choice|option)\\W{0,3}(?i:is)?\\W{0,4}([A-Z])(?![A-Za-z])");

  private ChoiceAnswer() {}

  /**
   * Returns the letter in the last box, else the last one stated as the answer, else the last that
   * stands alone.
   *
   * @param choices number of choices, from A on
   */
  public static Optional<Character> of(String answer, int choices) {
    return BoxedAnswer.last(answer)
        .flatMap(box -> last(LETTER, box.replaceAll("\\\\[a-z]+", ""), choices))
        .or(() -> last(STATED, answer, choices))
        .or(() -> last(LETTER, answer, choices));
  }

  private static Optional<Character> last(Pattern pattern, String text, int choices) {
    Matcher matcher = pattern.matcher(text);
    Optional<Character> found = Optional.empty();
    while (matcher.find()) {
      char letter = matcher.group(1).charAt(0);
      if (letter < 'A' + choices) {
        found = Optional.of(letter);
      }
    }
    return found;
  }
}

package dev.kvasir.chat.syntax;

import java.util.function.Function;

/** Skips white space, then chooses a reader by the next character, which that reader reads too. */
final class ChoiceReader implements Reader {
  private final Function<Character, Reader> choice;
  private Reader chosen;

  /**
   * @param choice returns null if no text begins with the character
   */
  ChoiceReader(Function<Character, Reader> choice) {
    this.choice = choice;
  }

  @Override
  public Step accept(char c) {
    if (chosen == null) {
      if (Character.isWhitespace(c)) {
        return Step.MORE;
      }
      chosen = choice.apply(c);
    }
    return chosen == null ? Step.MALFORMED : chosen.accept(c);
  }
}

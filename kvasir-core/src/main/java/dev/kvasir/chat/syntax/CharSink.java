package dev.kvasir.chat.syntax;

/** Receives text. */
@FunctionalInterface
interface CharSink {
  void accept(char c);

  default void accept(CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      accept(text.charAt(i));
    }
  }
}

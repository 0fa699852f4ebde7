package dev.kvasir.chat;

import java.util.function.Consumer;

/**
 * Splits streamed text into what is inside and outside a pair of tags. A possible prefix of a tag
 * is buffered until more text decides.
 */
final class TagSplitter {
  private final String open;
  private final String close;
  private final Consumer<String> outside;
  private final Consumer<String> inside;
  private final Runnable onClose;
  private String pending = "";
  private boolean isInside;

  /**
   * @param startsInside whether the prompt ended with the opening tag
   * @param onClose called after each closing tag
   */
  TagSplitter(
      String open,
      String close,
      boolean startsInside,
      Consumer<String> outside,
      Consumer<String> inside,
      Runnable onClose) {
    this.open = open;
    this.close = close;
    this.isInside = startsInside;
    this.outside = outside;
    this.inside = inside;
    this.onClose = onClose;
  }

  void push(String piece) {
    String text = pending + piece;
    String tag = isInside ? close : open;
    for (int at = text.indexOf(tag); at >= 0; at = text.indexOf(tag)) {
      emit(text.substring(0, at));
      text = text.substring(at + tag.length());
      if (isInside) {
        onClose.run();
      }
      isInside = !isInside;
      tag = isInside ? close : open;
    }
    int keep = Math.min(tag.length() - 1, text.length());
    while (!text.endsWith(tag.substring(0, keep))) {
      keep--;
    }
    pending = text.substring(text.length() - keep);
    emit(text.substring(0, text.length() - keep));
  }

  private void emit(String text) {
    if (!text.isEmpty()) {
      (isInside ? inside : outside).accept(text);
    }
  }

  /** Emits the buffered text at the end of the stream. */
  void finish() {
    String rest = pending;
    pending = "";
    emit(rest);
  }
}

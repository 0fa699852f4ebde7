package dev.kvasir.chat.syntax;

import java.util.List;

/** Reads text up to and including a marker. */
final class UntilReader implements Reader {
  private final int maxLength;
  private final MarkerScanner scanner;
  private String marker;
  private int length;

  /**
   * @param maxLength characters after which the text is malformed
   */
  UntilReader(CharSink out, int maxLength, String... markers) {
    this.maxLength = maxLength;
    this.scanner = new MarkerScanner(List.of(markers), out);
  }

  @Override
  public Step accept(char c) {
    if (length++ == maxLength) {
      return Step.MALFORMED;
    }
    marker = scanner.accept(c);
    return marker == null ? Step.MORE : Step.DONE;
  }

  /** Returns the marker that was found. */
  String marker() {
    return marker;
  }
}

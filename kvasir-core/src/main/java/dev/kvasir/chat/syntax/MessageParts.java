package dev.kvasir.chat.syntax;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Collects the characters of a message and passes them on in pieces. White space around reasoning
 * and calls is left out.
 */
final class MessageParts implements CallSink {
  private enum Kind {
    TEXT,
    REASONING,
    ARGUMENTS
  }

  private final MessageListener listener;
  private final Supplier<String> ids;
  private final StringBuilder piece = new StringBuilder();
  private final StringBuilder space = new StringBuilder(); // may turn out to be around a part
  private final StringBuilder arguments = new StringBuilder();
  private final StringBuilder source = new StringBuilder(); // since the last complete call
  private Kind kind = Kind.TEXT;
  private boolean isBlank = true; // no text since the last part of another kind
  private boolean isFirstPart = true;
  private boolean isCallOpen;
  private String callId;
  private String callName;
  private int started;
  private int completed;

  /**
   * @param ids creates ids of calls
   */
  MessageParts(MessageListener listener, Supplier<String> ids) {
    this.listener = listener;
    this.ids = ids;
  }

  /** Returns whether nothing but white space has been written since the last call or thought. */
  boolean isBlank() {
    return isBlank;
  }

  int completedCalls() {
    return completed;
  }

  void text(char c) {
    begin(Kind.TEXT);
    if (isBlank && Character.isWhitespace(c)) {
      if (isFirstPart) {
        space.append(c);
      }
      return;
    }
    writeSpace();
    isBlank = false;
    piece.append(c);
  }

  void text(CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      text(text.charAt(i));
    }
  }

  void reasoning(char c) {
    begin(Kind.REASONING);
    if (Character.isWhitespace(c)) {
      if (!isBlank) {
        space.append(c);
      }
      return;
    }
    writeSpace();
    isBlank = false;
    piece.append(c);
  }

  private void writeSpace() {
    piece.append(space);
    space.setLength(0);
  }

  private void begin(Kind next) {
    if (kind != next) {
      flush();
      kind = next;
      endPart();
    }
  }

  /** Separates what follows from what precedes, even if it is of the same kind. */
  void endPart() {
    space.setLength(0);
    isBlank = true;
    isFirstPart = false;
  }

  /** Remembers text that is read as a call, in case it is none. */
  void source(CharSequence text) {
    source.append(text);
  }

  void source(char c) {
    source.append(c);
  }

  @Override
  public boolean start(String name, Optional<String> id) {
    begin(Kind.ARGUMENTS);
    flush();
    callName = name;
    callId = id.orElseGet(ids);
    arguments.setLength(0);
    isCallOpen = true;
    listener.callStarted(started++, callId, callName);
    return true;
  }

  @Override
  public void argument(char c) {
    arguments.append(c);
    piece.append(c);
  }

  @Override
  public void end() {
    flush();
    isCallOpen = false;
    completed++;
    endPart();
    listener.callCompleted(started - 1, callId, callName, arguments.toString());
    settle();
  }

  @Override
  public void settle() {
    source.setLength(0);
  }

  /** Ends the reading of calls: what is not part of a complete one is text. */
  void endCalls() {
    String rest = source.toString();
    source.setLength(0);
    if (isCallOpen || !rest.isBlank()) {
      isCallOpen = false;
      text(rest);
    }
  }

  /** Ends the reasoning; white space after it is no content. */
  void endThought() {
    flush();
    endPart();
    kind = Kind.TEXT;
  }

  /** Removes the last character of the source, which is read as something else. */
  void unreadSource() {
    source.setLength(source.length() - 1);
  }

  /**
   * Removes what follows the marker in the source, to be read as something else.
   *
   * @return empty if a call has started, or if it is longer than the maximum
   */
  String unread(String marker, int max) {
    boolean isMarked = !marker.isEmpty() && source.indexOf(marker) == 0;
    if (isCallOpen || !isMarked || source.length() - marker.length() > max) {
      return "";
    }
    String rest = source.substring(marker.length());
    source.setLength(marker.length());
    return rest;
  }

  /** Passes on what has been collected. */
  void flush() {
    // A bracket alone waits, so that a call without arguments has one piece.
    boolean isOnlyBracket = isCallOpen && arguments.length() == 1 && kind == Kind.ARGUMENTS;
    if (piece.isEmpty() || isOnlyBracket) {
      return;
    }
    String text = piece.toString();
    piece.setLength(0);
    switch (kind) {
      case TEXT -> listener.text(text);
      case REASONING -> listener.reasoning(text);
      case ARGUMENTS -> listener.callArguments(started - 1, text);
    }
  }

  void finish() {
    if (kind == Kind.TEXT) {
      writeSpace();
    }
    flush();
  }
}

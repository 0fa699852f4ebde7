package dev.kvasir.chat.syntax;

/** Receives the parts of a message as they are generated. */
public interface MessageListener {
  void text(String piece);

  void reasoning(String piece);

  /**
   * @param index position of the call in the message
   */
  void callStarted(int index, String id, String name);

  void callArguments(int index, String piece);

  /**
   * Called after all arguments of a valid call. The source of a malformed one follows as text
   * instead.
   */
  void callCompleted(int index, String id, String name, String arguments);
}

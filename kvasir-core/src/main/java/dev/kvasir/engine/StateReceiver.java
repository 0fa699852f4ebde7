package dev.kvasir.engine;

/** Receives hidden states of a text in the order of its tokens, on the thread of a step. */
public interface StateReceiver {
  /** Returns whether the state of the token at a position is wanted. */
  boolean wants(int position);

  /** Takes the state that begins at {@code at}. */
  void accept(float[] states, int at);
}

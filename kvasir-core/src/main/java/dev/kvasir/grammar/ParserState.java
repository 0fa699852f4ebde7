package dev.kvasir.grammar;

import java.util.Set;

/** All configurations that a text may be in, with lazily computed transitions. */
final class ParserState {
  /** A state that consumes bytes, and its call stack. */
  record Configuration(int state, CallStack stack) {}

  /**
   * @param isAccepting whether the text may end here
   */
  record Key(Set<Configuration> configurations, boolean isAccepting) {}

  final Key key;

  /** By class of the next byte; null if not computed yet. */
  final ParserState[] next;

  /** Whether no byte is allowed here and the text may not end. */
  final boolean isDead;

  /** Whether plain text leads back to this state, as inside a string; null if not computed yet. */
  Boolean staysInPlainText;

  /** One bit per allowed token; null if not computed yet. */
  long[] tokenMask;

  ParserState(Key key, int classes) {
    this.key = key;
    this.next = new ParserState[classes];
    this.isDead = key.configurations().isEmpty() && !key.isAccepting();
  }

  boolean isAccepting() {
    return key.isAccepting();
  }
}

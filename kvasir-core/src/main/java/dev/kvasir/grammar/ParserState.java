package dev.kvasir.grammar;

import java.util.Set;

/** All that a text may be in the midst of, and what was found out about going on from there. */
final class ParserState {
  /** A state that takes bytes, and the calls around it. */
  record Configuration(int state, CallStack stack) {}

  /**
   * @param isText whether the text may end here
   */
  record Key(Set<Configuration> configurations, boolean isAccepting) {}

  final Key key;

  /** By class of the next byte; null where nobody asked yet. */
  final ParserState[] next;

  /** Whether nothing may come here, and the text may not end. */
  final boolean isDead;

  /** Whether plain text leads back here, as within a string; null where nobody asked yet. */
  Boolean staysInPlainText;

  /** A bit for each token that may come; null where nobody asked yet. */
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

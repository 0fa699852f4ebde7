package dev.kvasir.engine;

/**
 * Single rows in the midst of a long prompt, so that Java compiles what generates while there is
 * still something to read: what steps of many rows run is other code, and without this the first
 * tokens of an answer are interpreted.
 *
 * <p>Bits do not depend on it, since a prompt's step gives the same in however many parts.
 */
final class Rehearsal {
  /** Rows that are a rehearsal, or as many tokens that were generated. */
  private static final int ROWS = 256;

  /** Of each step of a prompt, its first rows. */
  private static final int ROWS_OF_STEP = 32;

  /** Tokens that must be left to read: compilers take their time. */
  private static final int LEAST_UNREAD = 1024;

  private int done;

  /** Says that a step had rows that waited for a token. */
  void generated(int rows) {
    done = Math.min(ROWS, done + Math.min(1, rows));
  }

  /** Whether a prompt that is read alone has a single row now, which is taken for done. */
  boolean takesOne(int past, int unread) {
    boolean takes =
        done < ROWS && unread >= LEAST_UNREAD && past % Sequence.PROMPT_STEP < ROWS_OF_STEP;
    done += takes ? 1 : 0;
    return takes;
  }
}

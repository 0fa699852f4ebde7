package dev.kvasir.engine;

/**
 * Sees what a loop of steps does and when, by {@link System#nanoTime}; called on the loop's
 * threads, several at once, so it must be quick.
 */
public interface StepWatch {
  /** Looks away. */
  StepWatch NOBODY = new StepWatch() {};

  /**
   * @param rows tokens of all sequences
   * @param decoding sequences that wait for their next token, or are being told one
   */
  default void stepped(long begin, long end, int rows, int decoding) {}

  /**
   * Pages were made, beside steps that others may have run.
   *
   * @param ofPrompt whether that followed a step of the sequence's prompt
   */
  default void packed(long begin, long end, boolean ofPrompt) {}
}

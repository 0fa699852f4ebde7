package dev.kvasir.engine;

/**
 * Sees what a loop of steps does and when, by {@link System#nanoTime}; called on the loop's
 * threads, several at once, so it must be quick.
 */
public interface StepListener {
  /** Looks away. */
  StepListener NONE = new StepListener() {};

  /**
   * @param batch what the step had, to be looked at within the call
   * @param decodingRows its first rows, of sequences that waited for their next token; the others
   *     are of prompts
   */
  default void stepped(long begin, long end, Batch batch, int decodingRows) {}

  /**
   * Pages were made, beside steps that others may have run.
   *
   * @param ofPrompt whether that followed a step of the sequence's prompt
   */
  default void quantized(long begin, long end, boolean ofPrompt) {}
}

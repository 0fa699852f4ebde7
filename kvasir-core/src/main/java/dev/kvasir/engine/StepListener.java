package dev.kvasir.engine;

/**
 * Observes the scheduler's steps with {@link System#nanoTime} times. Several threads call it at
 * once, so implementations must be thread-safe and fast.
 */
public interface StepListener {
  /** Ignores all events. */
  StepListener NONE = new StepListener() {};

  /**
   * Called after a step, and after each part of a prompt step that other steps interrupt.
   *
   * @param batch the rows of the step, valid during the call
   * @param decodingRows number of first rows that decode; the others are prompt rows
   */
  default void stepped(long begin, long end, Batch batch, int decodingRows) {}

  /**
   * Called after a request has quantized pages, possibly in parallel with steps of others.
   *
   * @param ofPrompt whether that followed a prefill step
   */
  default void quantized(long begin, long end, boolean ofPrompt) {}
}

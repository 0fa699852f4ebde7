package dev.kvasir;

/** When the tokens of a prompt are packed. */
public enum Prefill {
  /** While the prompt is read: memory grows with the packed pages alone. */
  CHUNKED,

  /**
   * When the prompt has been read: its tokens see each other in full precision, and memory holds
   * all of them so until then.
   */
  EXACT
}

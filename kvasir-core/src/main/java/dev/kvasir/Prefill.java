package dev.kvasir;

/** When the tokens of a prompt are quantized. */
public enum Prefill {
  /** During prefill: memory grows only with the quantized pages. */
  CHUNKED,

  /**
   * After prefill: prompt tokens attend to each other in full precision, and memory holds all of
   * them until then.
   */
  EXACT
}

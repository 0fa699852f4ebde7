package dev.kvasir.engine;

/** The reason why a generation ended. */
public enum Finish {
  /** The model produced an end-of-text token. */
  END_OF_TEXT,
  /** The requested number of tokens was reached. */
  MAX_TOKENS,
  /** The context is full. */
  CONTEXT_FULL,
  /** The cache's budget is exhausted. */
  CACHE_FULL,
  /** The listener requested it. */
  STOPPED
}

package dev.kvasir.engine;

/** Why a generation ended. */
public enum Finish {
  /** The model said that its text is over. */
  END_OF_TEXT,
  /** As many tokens as were asked for. */
  MAX_TOKENS,
  /** The context is full. */
  CONTEXT_FULL,
  /** The cache's budget is used up. */
  CACHE_FULL,
  /** The listener asked to stop. */
  STOPPED
}

package dev.kvasir.engine;

import dev.kvasir.engine.PrefixCache.PrefixNamespace;

/**
 * The hash of a text after a whole number of steps. Equal hashes are a hint, not a proof, of equal
 * texts.
 */
public record StepHash(PrefixNamespace namespace, int length, long hash) {
  private static final int STEP = Request.PREFILL_STEP;

  /** The hash before the first step. */
  private static final long NO_STEPS = 1;

  /** Returns the hash chain of a text: each hash covers all tokens before the end of its step. */
  static StepHash[] of(PrefixNamespace namespace, int[] text) {
    StepHash[] steps = new StepHash[text.length / STEP];
    long hash = NO_STEPS;
    for (int step = 0; step < steps.length; step++) {
      for (int i = step * STEP; i < (step + 1) * STEP; i++) {
        hash = (hash ^ text[i]) * 0x9E3779B97F4A7C15L;
        hash ^= hash >>> 32;
      }
      steps[step] = new StepHash(namespace, (step + 1) * STEP, hash);
    }
    return steps;
  }

  /** Returns the hash after the first {@code count} steps. */
  static StepHash last(PrefixNamespace namespace, StepHash[] steps, int count) {
    return count == 0 ? new StepHash(namespace, 0, NO_STEPS) : steps[count - 1];
  }
}

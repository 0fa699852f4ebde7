package dev.kvasir.engine;

import dev.kvasir.engine.PrefixCache.PrefixNamespace;

/** Where a text's hash stands after a whole number of steps: a hint, never a proof. */
record StepHash(PrefixNamespace namespace, int length, long hash) {
  private static final int STEP = Request.PREFILL_STEP;

  /** Where the chain of hashes begins. */
  private static final long NO_STEPS = 1;

  /** A chain: the hash after a step is over all tokens before it. */
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

  /** The hash after the last of some steps. */
  static StepHash last(PrefixNamespace namespace, StepHash[] steps, int count) {
    return count == 0 ? new StepHash(namespace, 0, NO_STEPS) : steps[count - 1];
  }
}

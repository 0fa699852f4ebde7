package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheConverter;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.KernelChoice;

/** Copies a prompt that one cache has computed in full precision to others. */
final class SharedPrefill {
  private SharedPrefill() {}

  /**
   * Returns whether the second cache, which is empty, can copy a prompt from the first and then has
   * the same bits as if it had read it. The prompt must stay in full precision while it is read,
   * and the second cache must learn nothing from queries or attention.
   */
  static boolean isPossible(KvCache from, KvCache to, int tokens, Prefill prefill) {
    boolean dense =
        prefill == Prefill.EXACT
            || tokens < KvCache.TOKENS_PER_PAGE
            || from.defersPrompts() && to.defersPrompts();
    return dense
        && tokens > 0
        && from.length() == 0
        && to.length() == 0
        && from.prefillsLike(to)
        && !to.dependsOnAttention()
        && from.stepCapacity(tokens) == tokens
        && to.stepCapacity(tokens) == tokens;
  }

  /** Copies the tokens of one cache to an empty one. */
  static void copy(KvCache from, KvCache to, int[] ids, CacheShape shape) {
    new CacheConverter(from, to, shape, KernelChoice.ofThisProcess().kernels())
        .fill(ids, PromptDrafts.PREFILL_CHUNK, false);
  }
}

package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;

/**
 * Balanced heads, keys by channel and values by token.
 *
 * @param rounds of balancing at the most
 */
record KvarnPlan(UniformKeys keys, int rounds) implements CachePlan {
  /** As many as the published code takes. */
  private static final int DEFAULT_ROUNDS = 16;

  private static final int MOST_ROUNDS = 1000;

  static KvarnPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "rounds");
    return new KvarnPlan(keys, spec.between("rounds", DEFAULT_ROUNDS, 0, MOST_ROUNDS));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return keys.settings(
        new KvarnCodec(shape.kvHeads(), keys.head(shape), keys.lookups(), new Balance(rounds)));
  }
}

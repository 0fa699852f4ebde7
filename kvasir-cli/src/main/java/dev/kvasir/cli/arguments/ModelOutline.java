package dev.kvasir.cli.arguments;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * What the files of a model state about it. Commands check their options against it before they
 * load any weights.
 *
 * @param name the file or folder
 * @param fingerprint identifies the weights; empty for a folder without weights
 * @param weightBytes memory that the loaded weights take; 0 for a folder without weights
 */
public record ModelOutline(String name, ModelConfig config, String fingerprint, long weightBytes) {

  /**
   * Rejects a number of tokens beyond the model's context.
   *
   * @param option the option that states it
   */
  public int requireContext(String option, int tokens) {
    if (tokens > config.contextLength()) {
      throw new InvalidInputException(
          "%s is %d; expected at most %d, the context of the model"
              .formatted(option, tokens, config.contextLength()));
    }
    return tokens;
  }

  /** Rejects a profile of another model. */
  public void requireProfile(Optional<Profile> profile) {
    profile.ifPresent(given -> given.requireModel(fingerprint, name));
  }

  /** Rejects a cache that does not fit the model or needs a calibration that is missing. */
  public void requireCache(CacheSpec spec, Optional<Profile> profile, int tokens) {
    sequenceBytes(spec, profile, tokens);
  }

  /**
   * Returns the most bytes of a sequence while it grows to {@code tokens} tokens, and of the tables
   * that all sequences share.
   */
  public long sequenceBytes(CacheSpec spec, Optional<Profile> profile, int tokens) {
    return sequenceBytes(spec, profile, tokens, tokens);
  }

  /**
   * Returns the same for a sequence that may grow further.
   *
   * @param contextLimit the most tokens that it may grow to
   */
  public long sequenceBytes(
      CacheSpec spec, Optional<Profile> profile, int tokens, int contextLimit) {
    try (ModelTables tables = new ModelTables()) {
      CacheContext context = cacheContext(profile, tables).withContextLimit(contextLimit);
      return spec.maxBytes(config.cacheShape(), context, tokens, Request.PREFILL_STEP)
          + spec.sharedBytes(config.cacheShape(), context);
    }
  }

  /** Returns whether a sequence has a budget of its own. */
  public boolean hasBudget(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
    try (ModelTables tables = new ModelTables()) {
      CacheContext context = cacheContext(profile, tables).withContextLimit(contextLimit);
      return spec.budgetBytes(config.cacheShape(), context).isPresent();
    }
  }

  /** Returns the facts that sizes of caches depend on; some caches compute them from tables. */
  public CacheContext cacheContext(Optional<Profile> profile, ModelTables tables) {
    return CacheContext.unknown()
        .withQueryHeads(config.queryHeads())
        .withRotations(config.rotations())
        .withProfile(profile)
        .withTables(Optional.of(tables));
  }
}

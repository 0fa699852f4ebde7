package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The codebooks of a model by cache specification and profile, created on first use. */
final class CommvqCodebookCache {
  private final FormatRequest.LoadedModel model;
  private final Map<Key, CommvqCodebooks> cached = new HashMap<>();

  private record Key(Optional<Profile> profile, CacheSpec spec) {}

  private CommvqCodebookCache(FormatRequest.LoadedModel model) {
    this.model = model;
  }

  /** Returns the cache of a model. */
  static CommvqCodebookCache of(FormatRequest.LoadedModel model) {
    return model
        .tables()
        .cached(
            CommvqCodebookCache.class,
            CommvqCodebookCache.class,
            any -> new CommvqCodebookCache(model));
  }

  /**
   * @throws dev.kvasir.error.InvalidInputException if the profile has no codebooks for the cache
   */
  synchronized CommvqCodebooks codebooks(CacheSpec spec, Optional<Profile> profile) {
    return cached.computeIfAbsent(new Key(profile, spec), any -> load(spec, profile));
  }

  private CommvqCodebooks load(CacheSpec spec, Optional<Profile> profile) {
    ModelConfig config = model.config();
    CacheContext context =
        CacheContext.unknown()
            .withRotation(config.sharedRotation())
            .withTables(Optional.of(model.tables()))
            .withProfile(profile);
    CacheConfig settings = spec.config().cacheConfig(config.cacheShape(), context);
    CommvqCodec codec = (CommvqCodec) settings.codec().orElseThrow();
    return new CommvqCodebooks(
        codec.codebooks().orElseThrow(), settings.sinks(), config.contextLength(), codec.beam());
  }
}

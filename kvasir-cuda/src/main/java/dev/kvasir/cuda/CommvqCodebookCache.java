package dev.kvasir.cuda;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The codebooks of a model by cache specification and profile, created on first use. */
final class CommvqCodebookCache implements AutoCloseable {
  private final ModelConfig config;
  private final ModelTables tables = new ModelTables();
  private final Map<Key, CommvqCodebooks> cached = new HashMap<>();

  private record Key(Optional<Profile> profile, CacheSpec spec) {}

  CommvqCodebookCache(ModelConfig config) {
    this.config = config;
  }

  /**
   * @throws dev.kvasir.error.InvalidInputException if the profile has no codebooks for the cache
   */
  synchronized CommvqCodebooks of(CacheSpec spec, Optional<Profile> profile) {
    return cached.computeIfAbsent(new Key(profile, spec), any -> load(spec, profile));
  }

  private CommvqCodebooks load(CacheSpec spec, Optional<Profile> profile) {
    CacheContext context =
        CacheContext.unknown()
            .withRotation(config.sharedRotation())
            .withTables(Optional.of(tables))
            .withProfile(profile);
    CacheConfig settings = spec.config().cacheConfig(config.cacheShape(), context);
    CommvqCodec codec = (CommvqCodec) settings.codec().orElseThrow();
    return new CommvqCodebooks(
        codec.codebooks().orElseThrow(), settings.sinks(), config.contextLength(), codec.beam());
  }

  @Override
  public void close() {
    tables.close();
  }
}

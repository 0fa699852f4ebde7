package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.codec.commvq.CommvqConfig;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Provides pages of CommVQ. */
public final class CommvqFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "commvq";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    CommvqConfig config = CommvqConfig.of(request.text());
    if (!CommvqFormat.BITS.contains(config.bits())) {
      throw request.unsupported(
          "has codebooks of %d bits; on a device expected 1 or 2".formatted(config.bits()));
    }
    if (config.values() != ValueCoding.STAGES && config.keyScoring() != KeyScoring.SUMS) {
      throw request.unsupported(
          "encodes values with a network and has scores=%s; on a device expected scores=sums"
              .formatted(request.text().value("scores")));
    }
    if (config.beam() > CommvqCodebooks.MAX_BEAM) {
      throw request.unsupported(
          "has a beam of %d; on a device expected at most %d"
              .formatted(config.beam(), CommvqCodebooks.MAX_BEAM));
    }
    return new DeviceCacheConfig(
        new CommvqFormat(config.bits(), config.values(), config.keyScoring(), codebooks(request)),
        0,
        config.window(),
        config.sinks());
  }

  private static CommvqCodebooks codebooks(FormatRequest request) {
    CommvqCodebooks codebooks =
        request
            .model()
            .map(CommvqCodebookCache::of)
            .map(cache -> cache.codebooks(request.spec(), request.profile()))
            .orElse(null);
    if (codebooks != null) {
      codebooks
          .unsupported(CommvqConfig.of(request.text()).bits())
          .ifPresent(
              reason -> {
                throw request.unsupported(reason);
              });
    }
    return codebooks;
  }

  /** The codebooks of a model by cache specification and profile, created on first use. */
  private static final class CommvqCodebookCache {
    private final FormatRequest.LoadedModel model;
    private final Map<Key, CommvqCodebooks> cached = new HashMap<>();

    private record Key(Optional<Profile> profile, CacheSpec spec) {}

    private CommvqCodebookCache(FormatRequest.LoadedModel model) {
      this.model = model;
    }

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
}

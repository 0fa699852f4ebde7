package dev.kvasir.cuda.formats.mead;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.MeadSettings;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Provides pages of Mead. */
public final class MeadFormatProvider implements PageFormatProvider {
  private static final String LATE_SINKS = "late-sinks";

  @Override
  public String method() {
    return "mead";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    MeadSettings settings = MeadSettings.of(request.text());
    check(request, settings);
    MeadModel model = request.model().map(loaded -> model(request, loaded)).orElse(null);
    return new DeviceCacheConfig(
        new MeadFormat(request.spec().text(), model), 0, settings.window(), settings.sinks());
  }

  private static void check(FormatRequest request, MeadSettings settings) {
    if (!settings.usesProfile()) {
      throw request.unsupported("is fitted to each sequence; a device needs a calibrated profile");
    }
    if (settings.usesAttention()) {
      throw request.unsupported(
          "sorts tokens by received attention, which a device does not observe; expected"
              + " classes=energy");
    }
    if (settings.requantizes()) {
      throw request.unsupported("requantizes old pages; on a device expected no budget");
    }
    if (request.text().has(LATE_SINKS) && settings.lateSinks() > 0) {
      throw request.unsupported(
          "keeps %d late sinks by received attention, which a device does not observe; expected %s=0"
              .formatted(settings.lateSinks(), LATE_SINKS));
    }
  }

  private static MeadModel model(FormatRequest request, FormatRequest.LoadedModel loaded) {
    return loaded
        .tables()
        .cached(MeadModels.class, MeadModels.class, any -> new MeadModels(loaded))
        .of(request);
  }

  /** The tables of a model by cache specification and profile, created on first use. */
  private static final class MeadModels {
    private final FormatRequest.LoadedModel loaded;
    private final Map<Key, MeadModel> cached = new ConcurrentHashMap<>();

    private record Key(Optional<Profile> profile, CacheSpec spec) {}

    private MeadModels(FormatRequest.LoadedModel loaded) {
      this.loaded = loaded;
    }

    /**
     * @throws dev.kvasir.error.InvalidInputException if the profile has no tables for the cache
     */
    MeadModel of(FormatRequest request) {
      return cached.computeIfAbsent(
          new Key(request.profile(), request.spec()), any -> load(request));
    }

    private MeadModel load(FormatRequest request) {
      ModelConfig config = loaded.config();
      CacheContext context =
          CacheContext.unknown()
              .withRotation(Optional.of(config.rotation()))
              .withTables(Optional.of(loaded.tables()))
              .withProfile(request.profile());
      CacheConfig settings = request.spec().config().cacheConfig(config.cacheShape(), context);
      MeadParameters parameters =
          settings
              .codec()
              .flatMap(MeadParameters::of)
              .filter(made -> made.headDim().isPresent())
              .orElseThrow(
                  () -> request.unsupported("has no kernels for this model's heads on a device"));
      return new MeadModel(parameters, config.rotation(), settings.sinks(), config.contextLength());
    }
  }
}

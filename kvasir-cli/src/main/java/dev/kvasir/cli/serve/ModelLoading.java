package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.SpeculationArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** How the model of a service is loaded; the options are checked first. */
public record ModelLoading(
    ServiceArguments service,
    LoadArguments load,
    DeviceArguments device,
    SpeculationArguments speculation,
    Streams streams) {
  /** Returns the caches of the only model; reports what auto stands for. */
  public List<CacheSpec> specs(ModelArguments model) {
    return ServiceArguments.parse(
        service.typedSpecs(),
        () -> {
          ModelOutline outline = model.outline(load);
          Optional<Profile> given = load.profile().map(Profile::open);
          outline.requireProfile(given);
          CacheChoice choice =
              choose(model, outline, given.or(() -> model.profile(null)), service.tokens(outline));
          AutoCache.report(choice, streams);
          return choice.spec();
        });
  }

  CacheChoice choose(
      ModelArguments model, ModelOutline outline, Optional<Profile> profile, int tokens) {
    return new AutoCache(
            outline,
            profile,
            device.supportedCaches(model, outline, service.hasStore()),
            device::memoryBytes)
        .choose(tokens, OptionalLong.of(service.cacheBytes()), speculation.draftBytes(tokens));
  }

  /**
   * Returns how the only model is loaded.
   *
   * @throws dev.kvasir.error.InvalidInputException if an option does not fit it
   */
  public EngineOptions checked(ModelArguments model, List<CacheSpec> specs) {
    EngineOptions options = options(specs);
    ModelOutline outline = model.outline(load);
    check(outline, specs, options.profile().or(() -> model.profile(null)), service.tokens(outline));
    return options;
  }

  /**
   * Rejects options that do not fit a model, before its weights are loaded.
   *
   * @param profile the calibration profile of the model
   * @param limit tokens of the longest conversation
   */
  void check(ModelOutline outline, List<CacheSpec> specs, Optional<Profile> profile, int limit) {
    outline.requireProfile(profile);
    specs.forEach(spec -> outline.requireCache(spec, profile, limit));
    CacheSpec first = specs.getFirst();
    service.requireMemory(
        first,
        limit,
        tokens -> outline.sequenceBytes(first, profile, tokens) + speculation.draftBytes(tokens));
  }

  /** Returns how a model with these caches is loaded. */
  EngineOptions options(List<CacheSpec> specs) {
    DeviceChoice choice =
        service.hasStore() ? device.choiceWithStorage(specs) : device.choice(specs);
    return speculation.addTo(
        load.options().withCacheBytes(service.cacheBytes()).withDevice(choice));
  }

  /** Reports what is worth knowing of a loaded model. */
  public void report(LoadedModel loaded, List<CacheSpec> specs) {
    device.report(loaded, streams);
    specs.forEach(spec -> loaded.warning(spec).ifPresent(streams::note));
  }
}

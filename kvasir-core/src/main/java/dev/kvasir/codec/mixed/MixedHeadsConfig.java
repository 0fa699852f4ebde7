package dev.kvasir.codec.mixed;

import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ColdBlocks;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A method's configuration for layers with heads of different sizes. Layers with the same heads
 * form a part, and the method quantizes each part like a model of its own.
 *
 * @param spec the spec as typed
 */
public record MixedHeadsConfig(String spec, QuantizationConfig methodConfig)
    implements QuantizationConfig {
  private interface Settings {
    CacheConfig of(CacheShape shape, CacheContext context);
  }

  private CacheConfig with(Settings settings, CacheShape shape, CacheContext context) {
    List<int[]> parts = shape.layersByHeads();
    List<CacheConfig> ofParts =
        parts.stream()
            .map(layers -> settings.of(shape.ofLayers(layers), context.ofLayers(layers)))
            .toList();
    CacheConfig first = ofParts.getFirst();
    if (first.codec().isEmpty()) {
      return first;
    }
    CacheConfig whole = first.mapCodec(_ -> codec(parts, ofParts, CacheConfig::codec));
    if (first.budget().isPresent()) {
      return whole.withBudget(budget(shape, context));
    }
    return first.coldBlocks().isEmpty()
        ? whole
        : whole.withColdBlocks(
            new ColdBlocks(
                first.coldBlocks().get().minDistance(),
                (StatelessCodec)
                    codec(parts, ofParts, part -> part.coldBlocks().map(cold -> cold.codec()))));
  }

  /** Returns the budget of all layers, which have shares by the bytes of their pages. */
  private CacheBudget budget(CacheShape shape, CacheContext context) {
    return methodConfig
        .mixedHeadsBudget(shape, context)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the cache '%s' divides a budget among layers; here their heads have different"
                        + " sizes".formatted(spec)));
  }

  private static PageCodec codec(
      List<int[]> parts,
      List<CacheConfig> ofParts,
      Function<CacheConfig, Optional<? extends PageCodec>> codec) {
    return MixedHeadsCodec.of(
        new LayerParts(parts),
        ofParts.stream().<PageCodec>map(part -> codec.apply(part).orElseThrow()).toList());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return with((heads, _) -> methodConfig.cacheConfig(heads), shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return with(methodConfig::estimationConfig, shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    return with(methodConfig::cacheConfig, shape, context);
  }

  @Override
  public Set<String> profileParts() {
    return methodConfig.profileParts();
  }

  @Override
  public Optional<String> warning(Profile profile) {
    return methodConfig.warning(profile);
  }

  @Override
  public String resolvedSpec(String text, CacheContext context) {
    return methodConfig.resolvedSpec(text, context);
  }
}

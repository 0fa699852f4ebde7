package dev.kvasir.methods.kvtuner;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.page.HeadShape;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * The configuration of KIVI with separate bit widths for the keys and values of each layer.
 *
 * @param spec the spec as typed
 * @param meanBits mean bits of all codes
 * @param widths from the profile's sensitivities, or the same for all layers; empty to use the
 *     profile's if it has any
 */
record KvtunerConfig(
    String spec, int meanBits, UniformOptions options, Optional<LayerWidths.Source> widths)
    implements QuantizationConfig {
  /** Means of two supported widths. */
  private static final SortedSet<Integer> MEANS = new TreeSet<>(Set.of(2, 3, 4, 5, 6, 8));

  static KvtunerConfig of(SpecText spec) {
    spec.requireKeys("widths", "group", "window", "sinks", OperandPrecision.KEY);
    int mean = spec.bits(MEANS);
    return new KvtunerConfig(
        spec.text(),
        mean,
        UniformOptions.of(spec, mean, mean),
        spec.has("widths")
            ? Optional.of(spec.choice("widths", LayerWidths.Source.SAME))
            : Optional.empty());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    KvBitWidths pairs = pairs(shape.layers(), context);
    List<HeadShape> heads =
        IntStream.range(0, shape.layers())
            .mapToObj(layer -> options.withBits(pairs.keys()[layer], pairs.values()[layer]))
            .map(widths -> widths.head(shape))
            .toList();
    return options.cacheConfig(new KiviCodec(shape.kvHeads(), heads, options.operandPrecision()));
  }

  private KvBitWidths pairs(int layers, CacheContext context) {
    Optional<LayerSensitivities> known =
        LayerSensitivities.find(context.profile(), KeyScales.CHANNEL, layers);
    LayerWidths.Source source =
        widths.orElse(known.isPresent() ? LayerWidths.Source.PROFILE : LayerWidths.Source.SAME);
    if (source == LayerWidths.Source.SAME) {
      return KvBitWidths.uniform(layers, meanBits);
    }
    return KvBitWidths.allocate(
        known.orElseThrow(
            () ->
                context.missingCalibration(
                    spec, "sensitivities of layers", "measure them", "pmkvq:2")),
        meanBits);
  }

  @Override
  public Set<String> profileParts() {
    return Set.copyOf(LayerSensitivities.PARTS);
  }
}

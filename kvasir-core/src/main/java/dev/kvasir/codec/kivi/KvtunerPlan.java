package dev.kvasir.codec.kivi;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.page.HeadShape;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Bits of keys and values by layer.
 *
 * @param spec as typed
 * @param meanBits of all codes
 * @param widths by sensitivities of a profile, or the same for all layers; empty for those of the
 *     profile where it has any
 */
record KvtunerPlan(String spec, int meanBits, UniformKeys keys, Optional<LayerWidths.Source> widths)
    implements CachePlan {
  /** The means of two widths. */
  private static final SortedSet<Integer> MEANS = new TreeSet<>(Set.of(2, 3, 4, 5, 6, 8));

  static KvtunerPlan of(SpecText spec) {
    spec.requireKeys("widths", "group", "window", "sinks", "lookup");
    int mean = spec.bits(MEANS);
    return new KvtunerPlan(
        spec.text(),
        mean,
        UniformKeys.of(spec, mean, mean),
        spec.has("widths")
            ? Optional.of(spec.choice("widths", LayerWidths.Source.SAME))
            : Optional.empty());
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    WidthPairs pairs = pairs(shape.layers(), host);
    List<HeadShape> heads =
        IntStream.range(0, shape.layers())
            .mapToObj(layer -> keys.withBits(pairs.keys()[layer], pairs.values()[layer]))
            .map(widths -> widths.head(shape))
            .toList();
    return keys.settings(new KiviCodec(shape.kvHeads(), heads, keys.lookups()));
  }

  private WidthPairs pairs(int layers, CacheHost host) {
    boolean known = LayerSensitivities.ofChannelsAreIn(host.profile());
    LayerWidths.Source source =
        widths.orElse(known ? LayerWidths.Source.PROFILE : LayerWidths.Source.SAME);
    if (source == LayerWidths.Source.SAME) {
      return WidthPairs.alike(layers, meanBits);
    }
    if (!known) {
      throw new InvalidInputException(
          "the cache '%s': widths=profile needs a profile that has '%s' of %s; run %s"
              .formatted(
                  spec,
                  LayerSensitivities.KEY,
                  LayerSensitivities.BY_CHANNEL,
                  "kvasir calibrate --kv pmkvq:2"));
    }
    return WidthPairs.within(LayerSensitivities.of(host.profile().get(), layers), meanBits);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(LayerSensitivities.PART);
  }
}

package dev.kvasir.codec.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FloorAllocationTest {
  private static final int LAYERS = 6;
  private static final CacheShape SHAPE = new CacheShape(LAYERS, 2, 64);
  private static final int CONTEXT = 4_096;

  /** All 2^6 choices are tried. */
  @Property(tries = 50)
  void noOtherChoiceWithinTheBudgetIsLessSensitive(
      @ForAll long seed, @ForAll @IntRange(max = LAYERS) int wide) {
    LayerSensitivities sensitivities = random(seed);
    int[] bits = new FloorAllocation(sensitivities, 2).solve(count -> count <= wide);
    double best =
        IntStream.range(0, 1 << LAYERS)
            .filter(choice -> Integer.bitCount(choice) <= wide)
            .mapToDouble(choice -> total(sensitivities, choice))
            .min()
            .orElseThrow();
    int chosen = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
      chosen |= bits[layer] == 4 ? 1 << layer : 0;
    }
    assertThat(Integer.bitCount(chosen)).isLessThanOrEqualTo(wide);
    assertThat(total(sensitivities, chosen)).isEqualTo(best);
  }

  @Test
  void aLargerBudgetWidensTheLayersThatGainMost() {
    float[] values = new float[2 * LAYERS * 3];
    for (int layer = 0; layer < LAYERS; layer++) {
      values[layer * 3] = 1 + (layer * 5) % LAYERS; // 1, 6, 5, 4, 3, 2
    }
    CacheContext context = context(new LayerSensitivities(LAYERS, values), KeyScales.CHANNEL);
    assertThat(floors("pmkvq:2,budget=%dKiB".formatted(leastKib(0)), context))
        .containsExactly(2, 2, 2, 2, 2, 2);
    assertThat(floors("pmkvq:2,budget=%dKiB".formatted(leastKib(2)), context))
        .containsExactly(2, 4, 4, 2, 2, 2);
    assertThat(floors("pmkvq:2,budget=64MiB", context)).containsExactly(4, 4, 4, 4, 4, 4);
    assertThat(floors("pmkvq:2,budget=64MiB,widths=same", context))
        .containsExactly(2, 2, 2, 2, 2, 2);
  }

  @Test
  void sensitivitiesOfOtherKeyScalesDoNotCount() {
    CacheContext context = context(random(1), KeyScales.CHANNEL);
    assertThat(floors("pmkvq:2,budget=64MiB,keys=token", context))
        .containsExactly(2, 2, 2, 2, 2, 2);
    assertThatThrownBy(() -> floors("pmkvq:2,budget=64MiB,keys=token,widths=budget", context))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("sensitivities of layers")
        .hasMessageContaining("kvasir calibrate --kv pmkvq:2 --keys token");
    assertThat(floors("pmkvq:2,budget=64MiB,keys=token", context(random(1), KeyScales.TOKEN)))
        .contains(4);
  }

  private static long leastKib(int wideLayers) {
    RequantizingCodec codec = codec("pmkvq:2,budget=64MiB", CacheContext.unknown());
    int floor = codec.floorLevel(0);
    long narrow = codec.pageBytes(0, floor);
    long block = LAYERS * narrow + wideLayers * (codec.pageBytes(0, floor - 1) - narrow);
    CacheConfig config =
        CacheSpec.parse("pmkvq:2,budget=64MiB").configFor(SHAPE).cacheConfig(SHAPE);
    return Math.ceilDiv(CacheBudget.minimumBytes(SHAPE, config, CONTEXT, block), 1024L);
  }

  private static int[] floors(String spec, CacheContext context) {
    RequantizingCodec codec = codec(spec, context);
    return IntStream.range(0, LAYERS)
        .map(layer -> LevelShapes.bits(codec.floorLevel(layer)))
        .toArray();
  }

  private static RequantizingCodec codec(String spec, CacheContext context) {
    return (RequantizingCodec)
        CacheSpec.parse(spec).configFor(SHAPE).cacheConfig(SHAPE, context).codec().orElseThrow();
  }

  private static CacheContext context(LayerSensitivities sensitivities, KeyScales scales) {
    Profile profile = sensitivities.addTo(Profile.empty("model"), scales, scales.note());
    return CacheContext.unknown().withContextLimit(CONTEXT).withProfile(Optional.of(profile));
  }

  private static LayerSensitivities random(long seed) {
    Random random = new Random(seed);
    float[] values = new float[2 * LAYERS * 3];
    for (int i = 0; i < values.length; i++) {
      values[i] = (3 - i % 3) * (1 + random.nextFloat());
    }
    return new LayerSensitivities(LAYERS, values);
  }

  private static double total(LayerSensitivities sensitivities, int wide) {
    double[] terms =
        IntStream.range(0, LAYERS)
            .mapToDouble(layer -> sensitivities.of(layer, (wide >> layer & 1) == 0 ? 2 : 4))
            .toArray();
    return Arrays.stream(terms).sum();
  }
}

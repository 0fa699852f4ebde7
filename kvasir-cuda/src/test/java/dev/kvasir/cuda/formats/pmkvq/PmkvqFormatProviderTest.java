package dev.kvasir.cuda.formats.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.pmkvq.InitialWidth;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.codec.pmkvq.RightShift;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.model.LayerRange;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The configuration of PM-KVQ caches on a device. */
class PmkvqFormatProviderTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 64);

  @Test
  void specsAreParsedLikeOnTheHost() {
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("pmkvq:2,budget=1MiB")))
        .isEqualTo(
            new DeviceCacheConfig(
                new PmkvqFormat(
                    KeyScaleAxis.CHANNEL,
                    RightShift.EQUIVALENT,
                    InitialWidth.NARROW,
                    List.of(),
                    Optional.empty()),
                0,
                128,
                1));
    assertThat(
            DeviceCacheConfig.of(
                CacheSpec.parse(
                    "pmkvq:2,budget=1MiB,keys=token,shift=modified,born=wide,window=64")))
        .isEqualTo(
            new DeviceCacheConfig(
                new PmkvqFormat(
                    KeyScaleAxis.TOKEN,
                    RightShift.MODIFIED,
                    InitialWidth.WIDE,
                    List.of(),
                    Optional.empty()),
                0,
                64,
                1));
  }

  private static PmkvqFormat format(String spec, Profile profile) {
    PmkvqConfig config = PmkvqConfig.of(new SpecText(spec));
    CacheContext context = CacheContext.unknown().withProfile(Optional.of(profile));
    return (PmkvqFormat)
        PmkvqFormatProvider.cacheConfig(config, Optional.of(SHAPE), context).format();
  }

  @Test
  void floorsOfLayersAreThoseOfTheHost() {
    Profile profile = Profile.empty("m").with(LayerWidths.KEY, new float[] {4, 2, 8}, 3);
    assertThat(format("pmkvq:2,budget=1MiB", profile).floors()).containsExactly(4, 2, 8);
    assertThat(format("pmkvq:4,budget=1MiB", profile).floors()).containsExactly(4, 4, 8);
    assertThat(format("pmkvq:8,budget=2MiB", profile).floors()).isEmpty();
    assertThat(format("pmkvq:2,budget=1MiB,widths=same", profile).floors()).isEmpty();
  }

  @Test
  void partsHaveTheFloorsAndFactorsOfTheirLayers() {
    float[] factors = new float[SHAPE.layers() * SHAPE.kvHeads() * SHAPE.headDim()];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = 1 + i;
    }
    Profile profile =
        Profile.empty("m")
            .with(LayerWidths.KEY, new float[] {4, 2, 8}, 3)
            .with("pmkvq/smoothing", factors, 3, 2, 64);
    PmkvqFormat whole = format("pmkvq:2,budget=1MiB,keys=token", profile);
    PmkvqFormat part = (PmkvqFormat) whole.ofLayers(new LayerRange(1, 2, 3));
    assertThat(part.floors()).containsExactly(2, 8);
    assertThat(part.groups(2).count()).isEqualTo(2);
    assertThat(part.factors())
        .contains(new KeyFactors(Arrays.copyOfRange(factors, 2 * 64, factors.length)));
    PmkvqFormat last = (PmkvqFormat) whole.ofLayers(new LayerRange(2, 1, 3));
    assertThat(last.floors()).isEmpty();
    assertThat(last.groups(1).count()).isOne();
  }

  /** Caches of one profile share their device resources. */
  @Test
  void formatsWithTheSameFactorsAreEqual() {
    float[] factors = new float[SHAPE.layers() * SHAPE.kvHeads() * SHAPE.headDim()];
    Arrays.fill(factors, 2);
    Profile profile = Profile.empty("m").with("pmkvq/smoothing", factors, 3, 2, 64);
    PmkvqFormat smoothed = format("pmkvq:2,budget=1MiB,keys=token", profile);
    assertThat(smoothed.factors()).isPresent();
    assertThat(format("pmkvq:2,budget=2MiB,keys=token", profile))
        .isEqualTo(smoothed)
        .hasSameHashCodeAs(smoothed);
    assertThat(format("pmkvq:2,budget=1MiB", profile).factors()).isEmpty();
    assertThat(format("pmkvq:2,budget=1MiB,keys=token,smoothing=off", profile).factors()).isEmpty();
    factors[5] = 3;
    Profile other = Profile.empty("m").with("pmkvq/smoothing", factors, 3, 2, 64);
    assertThat(format("pmkvq:2,budget=1MiB,keys=token", other)).isNotEqualTo(smoothed);
  }
}

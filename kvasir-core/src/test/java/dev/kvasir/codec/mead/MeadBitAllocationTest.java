package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.RowCodeLayout;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeadBitAllocationTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 64);
  private static final Rope ROPE =
      new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 64));

  @Test
  void bitsOfAllRowsAreThoseOfAPage() {
    try (ModelTables tables = new ModelTables()) {
      PageCodec codec = codec("mead:1.5", tables);
      MeadBitAllocation bits = MeadBitAllocation.of(codec).orElseThrow();
      // Rows are whole bytes and start with a scale index.
      long bytes =
          bits.rows().stream()
              .filter(row -> row.bits() > 0)
              .mapToLong(
                  row -> row.tokens() * Math.ceilDiv(row.bits() + RowCodeLayout.SCALE_BITS, 8))
              .sum();
      assertThat(bytes)
          .isEqualTo(IntStream.range(0, SHAPE.layers()).mapToLong(codec::codeBytes).sum());
      assertThat(bits.meanBits(row -> true)).isBetween(1.0, 2.0);
      assertThat(bits.meanQuantizedChannels(row -> row.tokens() == 16)).isBetween(1.0, 64.0);
    }
  }

  @Test
  void aTokenDeterminedLayerHasNoRows() {
    try (ModelTables tables = new ModelTables()) {
      MeadBitAllocation free = MeadBitAllocation.of(codec("mead:1.5", tables)).orElseThrow();
      assertThat(free.isQuantized(0)).isFalse();
      assertThat(free.isQuantized(1)).isTrue();
      assertThat(free.meanBits(row -> row.layer() == 0)).isZero();
      assertThat(free.rows()).hasSize(2 * SHAPE.kvHeads() * KvSide.COUNT * SaliencyTier.COUNT);
      MeadBitAllocation quantized =
          MeadBitAllocation.of(codec("mead:1.5,first=coded", tables)).orElseThrow();
      assertThat(quantized.isQuantized(0)).isTrue();
    }
  }

  @Test
  void meansAreWeightedByTokens() {
    MeadBitAllocation.Row most = new MeadBitAllocation.Row(0, 0, true, 64, 10, 5, 10);
    MeadBitAllocation.Row few = new MeadBitAllocation.Row(0, 0, true, 16, 10, 9, 60);
    MeadBitAllocation bits = new MeadBitAllocation(1, 1, List.of(most, few));
    assertThat(bits.meanBits(row -> true)).isCloseTo(2, within(1e-12));
    assertThat(bits.meanQuantizedChannels(row -> row.tokens() == 16)).isEqualTo(9);
  }

  @Test
  void otherMethodsHaveNoAllocation() {
    PageCodec kivi =
        CacheSpec.parse("kivi:2").configFor(SHAPE).cacheConfig(SHAPE).codec().orElseThrow();
    assertThat(MeadBitAllocation.of(kivi)).isEmpty();
  }

  private static PageCodec codec(String spec, ModelTables tables) {
    Profile profile = SyntheticMeadTables.addTo(Profile.empty("none"), SHAPE);
    CacheContext context =
        CacheContext.unknown()
            .withRotation(Optional.of(ROPE))
            .withProfile(Optional.of(profile))
            .withTables(Optional.of(tables));
    return CacheSpec.parse(spec).configFor(SHAPE).cacheConfig(SHAPE, context).codec().orElseThrow();
  }
}

package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.RowCodes;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeadBitsTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 64);
  private static final Rope ROPE = new Rope(RopeLayout.HALVES, RopeFrequencies.plain(10_000, 64));

  @Test
  void bitsOfAllRowsAreThoseOfAPage() {
    try (ModelTables tables = new ModelTables()) {
      PageCodec codec = codec("mead:1.5", tables);
      MeadBits bits = MeadBits.of(codec).orElseThrow();
      // Rows are whole bytes and begin with the index of a scale.
      long bytes =
          bits.rows().stream()
              .filter(row -> row.bits() > 0)
              .mapToLong(row -> row.tokens() * Math.ceilDiv(row.bits() + RowCodes.SCALE_BITS, 8))
              .sum();
      assertThat(bytes)
          .isEqualTo(IntStream.range(0, SHAPE.layers()).mapToLong(codec::codeBytes).sum());
      assertThat(bits.mean(row -> true)).isBetween(1.0, 2.0);
      assertThat(bits.coded(row -> row.tokens() == 16)).isBetween(1.0, 64.0);
    }
  }

  @Test
  void aLayerThatTokensTellHasNoRows() {
    try (ModelTables tables = new ModelTables()) {
      MeadBits free = MeadBits.of(codec("mead:1.5", tables)).orElseThrow();
      assertThat(free.isCoded(0)).isFalse();
      assertThat(free.isCoded(1)).isTrue();
      assertThat(free.mean(row -> row.layer() == 0)).isZero();
      assertThat(free.rows()).hasSize(2 * SHAPE.kvHeads() * Side.COUNT * TokenClass.COUNT);
      MeadBits coded = MeadBits.of(codec("mead:1.5,first=coded", tables)).orElseThrow();
      assertThat(coded.isCoded(0)).isTrue();
    }
  }

  @Test
  void aMeanCountsTokens() {
    MeadBits.Row most = new MeadBits.Row(0, 0, true, 64, 10, 5, 10);
    MeadBits.Row few = new MeadBits.Row(0, 0, true, 16, 10, 9, 60);
    MeadBits bits = new MeadBits(1, 1, List.of(most, few));
    assertThat(bits.mean(row -> true)).isCloseTo(2, within(1e-12));
    assertThat(bits.coded(row -> row.tokens() == 16)).isEqualTo(9);
  }

  @Test
  void otherMethodsShareNothingOut() {
    PageCodec kivi = CacheSpec.parse("kivi:2").plan().settings(SHAPE).codec().orElseThrow();
    assertThat(MeadBits.of(kivi)).isEmpty();
  }

  private static PageCodec codec(String spec, ModelTables tables) {
    Profile profile = MadeUpTables.addTo(Profile.empty("none"), SHAPE);
    CacheHost host =
        CacheHost.unknown()
            .withRotation(Optional.of(ROPE))
            .withProfile(Optional.of(profile))
            .withTables(Optional.of(tables));
    return CacheSpec.parse(spec).plan().settings(SHAPE, host).codec().orElseThrow();
  }
}

package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import dev.kvasir.profile.Profile;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TierStatisticsTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 16);

  @Test
  void contrastMovesWeightsAwayFromTheMeanOverTokens() {
    // The mean of keys is (64 * 0.5 + 48 * 1 + 16 * 3) / 128 = 1; values all weigh 2.
    TierStatistics plain = new TierStatistics(new float[0], new float[] {0.5f, 2, 1, 2, 3, 2});
    float[] raised = plain.withContrast(2).weights();
    assertThat(raised).containsExactly(new float[] {0.25f, 2, 1, 2, 9, 2}, within(1e-6f));
    assertThat(plain.withContrast(1).weights()).containsExactly(plain.weights(), within(1e-6f));
  }

  /** Profiles of earlier versions have statistics of attention tiers alone. */
  @Test
  void profilesWithoutEnergyTiersAreRead() {
    Profile whole = SyntheticMeadTables.addTo(Profile.empty("abc"), SHAPE);
    Profile older = Profile.empty("abc");
    for (Tensor tensor : whole.only(Set.of("mead:off")).tensors()) {
      if (!tensor.name().contains("energy-")) {
        older = with(older, whole, tensor);
      }
    }
    HeadProfile head = MeadProfile.of(older, TableKind.OFF, SHAPE).heads().getFirst().getFirst();
    assertThat(head.energyTiers().deviations()).isEqualTo(head.attentionTiers().deviations());
    assertThat(head.energyTiers().weights())
        .isEqualTo(head.attentionTiers().withContrast(2).weights());
    HeadProfile current = MeadProfile.of(whole, TableKind.OFF, SHAPE).heads().getFirst().getFirst();
    assertThat(current.energyTiers().weights()).isNotEqualTo(head.energyTiers().weights());
  }

  private static Profile with(Profile profile, Profile from, Tensor tensor) {
    String name = tensor.name();
    return tensor.type() == GgmlType.F16
        ? profile.withWords(
            name, Stream.of(from.words(name, 0, tensor.values(), tensor.shape())), tensor.shape())
        : profile.with(name, from.floats(name, tensor.shape()), tensor.shape());
  }
}

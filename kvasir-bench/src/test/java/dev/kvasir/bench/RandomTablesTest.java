package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RandomTablesTest {
  @Test
  void meadPacksRandomVectorsWithThem() {
    CacheShape shape = new CacheShape(1, 2, 64, 64, ValueOrigin.STORED);
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.plain(10_000, 64));
    Profile profile = RandomTables.addTo(Profile.empty("random"), shape);
    try (ModelTables tables = new ModelTables()) {
      CacheHost host =
          CacheHost.unknown()
              .withRotation(Optional.of(rope))
              .withQueryHeads(4)
              .withContextLimit(512)
              .withProfile(Optional.of(profile))
              .withTables(Optional.of(tables));
      try (KvCache cache =
          RandomPast.fill(CacheSpec.parse("mead:1.5").newCache(shape, host), shape, 4, 512)) {
        assertThat(cache.page(0, 1)).isNotNull(); // behind the sinks
        assertThat(cache.length()).isEqualTo(512);
      }
    }
  }
}

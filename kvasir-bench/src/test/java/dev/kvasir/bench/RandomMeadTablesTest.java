package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RandomMeadTablesTest {
  @Test
  void meadQuantizesRandomVectorsWithThem() {
    CacheShape shape = new CacheShape(1, 2, 64, 64, ValueOrigin.STORED);
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 64));
    Profile profile = RandomMeadTables.addTo(Profile.empty("random"), shape);
    try (ModelTables tables = new ModelTables()) {
      CacheContext context =
          CacheContext.unknown()
              .withRotation(Optional.of(rope))
              .withQueryHeads(4)
              .withContextLimit(512)
              .withProfile(Optional.of(profile))
              .withTables(Optional.of(tables));
      try (KvCache cache =
          RandomKv.fill(CacheSpec.parse("mead:1.5").newCache(shape, context), shape, 4, 512)) {
        assertThat(cache.view(0, 1).page()).isNotNull(); // after the sinks
        assertThat(cache.length()).isEqualTo(512);
      }
    }
  }
}

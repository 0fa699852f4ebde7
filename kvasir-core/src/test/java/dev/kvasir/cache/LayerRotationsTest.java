package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Methods that undo the rotation of keys, where layers rotate them differently. */
class LayerRotationsTest {
  private static final Kernels KERNELS = new ScalarKernels();
  private static final CacheShape SHAPE = new CacheShape(2, 2, 20);
  private static final int TOKENS = 2 * KvCache.TOKENS_PER_PAGE;
  private static final Rotation LOCAL = rope(RopeLayout.HALVES, 10, 20);

  /** Another base, fewer rotary channels, and another layout. */
  private static final Rotation GLOBAL = rope(RopeLayout.INTERLEAVED, 100, 12);

  private static Rope rope(RopeLayout layout, double base, int channels) {
    return new Rope(layout, RopeFrequencies.unscaled(base, channels));
  }

  /** Returns the keys of each layer as attention reads them. */
  private static float[][] keys(String spec, LayerRotations rotations) {
    try (ModelTables tables = new ModelTables()) {
      CacheContext context =
          CacheContext.unknown()
              .withQueryHeads(4)
              .withRotations(Optional.of(rotations))
              .withTables(Optional.of(tables))
              .withContextLimit(TOKENS)
              .withProfile(
                  Optional.of(
                      SyntheticProfileParts.addTo(SyntheticCodebooks.profile(SHAPE, 1, 2), SHAPE)));
      try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context)) {
        fill(cache);
        float[][] found = new float[SHAPE.layers()][TOKENS * SHAPE.keyDim()];
        for (int layer = 0; layer < found.length; layer++) {
          cache.view(layer, 1).expandKeys(KERNELS, 1, KvCache.TOKENS_PER_PAGE, found[layer]);
        }
        return found;
      }
    }
  }

  private static void fill(KvCache cache) {
    SplittableRandom random = new SplittableRandom(7);
    float[] key = new float[SHAPE.kvHeads() * SHAPE.keyDim()];
    cache.reserve(TOKENS);
    for (int position = 0; position < TOKENS; position++) {
      if (cache.observer().observesTokens()) {
        cache.observer().observe(position, 1 + position % 7);
      }
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        for (int i = 0; i < key.length; i++) {
          key[i] = (float) random.nextGaussian();
        }
        cache.append(layer, position, key, 0, key, 0);
      }
    }
    cache.advance(TOKENS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "patternkv:2,window=0",
        "commvq:2,window=0,sinks=0",
        "mead:2,window=0,sinks=0,late-sinks=0"
      })
  void eachLayerIsQuantizedWithItsOwn(String spec) {
    float[][] mixed = keys(spec, new LayerRotations(List.of(LOCAL, GLOBAL)));
    float[][] local = keys(spec, LayerRotations.ofAll(LOCAL));
    float[][] global = keys(spec, LayerRotations.ofAll(GLOBAL));
    assertThat(mixed[0]).isEqualTo(local[0]);
    assertThat(mixed[1]).isEqualTo(global[1]).isNotEqualTo(local[1]);
  }
}

package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.pmkvq.PmkvqPage;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions without pages match those of a cache with pages. */
class PageWidthsTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 16);

  /** The last layer has the floor of the first. */
  private static final int[] FIRST_LAYERS = {0, 1};

  private static final CacheContext CONTEXT =
      CacheContext.unknown()
          .withProfile(
              Optional.of(
                  Profile.empty("m").with(LayerWidths.KEY, new float[] {2, 4, 2}, SHAPE.layers())));

  private static final float[] ROW = new float[SHAPE.kvHeads() * SHAPE.headDim()];

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pmkvq:2,budget=96KiB,widths=same",
        "pmkvq:2,budget=150KiB,widths=same,sinks=16,window=64",
        "pmkvq:4,budget=120KiB,widths=same,shrink=layer,sinks=0",
        "pmkvq:2,budget=150KiB,widths=profile",
        "pmkvq:2,budget=180KiB,widths=profile,shrink=layer,sinks=16"
      })
  void widthsAreThoseOfTheCache(String text) {
    CacheSpec spec = CacheSpec.parse(text);
    int sinks = spec.configFor(SHAPE).cacheConfig(SHAPE, CONTEXT).sinks();
    Random random = new Random(3);
    try (KvCache cache = spec.newCache(SHAPE, CONTEXT)) {
      PageWidths widths = PageWidths.of(spec, SHAPE, CONTEXT, FIRST_LAYERS);
      assertThat(widths.capacity()).isEqualTo(cache.capacity());
      for (int round = 0; round < 300; round++) {
        int count = random.nextInt(10) == 0 ? 1 + random.nextInt(200) : 1 + random.nextInt(20);
        int fitting = cache.stepCapacity(count);
        assertThat(widths.stepCapacity(cache.length(), count, false)).isEqualTo(fitting);
        if (fitting < count) {
          assertThatThrownBy(() -> widths.reserve(cache.length(), cache.length() + count, false))
              .isInstanceOf(CacheFullException.class);
          int retained = random.nextInt(cache.length());
          cache.truncate(retained);
          widths.truncate(
              retained, Math.min(widths.quantizedBlocks(), Math.max(0, retained - sinks) / 128));
        } else {
          append(cache, widths, count);
        }
        check(cache, widths, sinks);
      }
    }
  }

  private static void append(KvCache cache, PageWidths widths, int count) {
    widths.reserve(cache.length(), cache.length() + count, false);
    cache.reserve(cache.length() + count);
    for (int i = 0; i < count; i++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, cache.length() + i, ROW, 0, ROW, 0);
      }
    }
    cache.commit(count);
    cache.quantizeWindow();
    for (int left = widths.quantizable(cache.length()); left > 0; left--) {
      widths.quantizeNext();
    }
  }

  private static void check(KvCache cache, PageWidths widths, int sinks) {
    for (int block = 0; block < widths.quantizedBlocks(); block++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        PmkvqPage page = (PmkvqPage) cache.view(layer, cache.blockOf(sinks + 128 * block)).page();
        assertThat(16 >> widths.level(layer % FIRST_LAYERS.length, block))
            .as("bits of block %d of %d tokens in layer %d", block, cache.length(), layer)
            .isEqualTo(page.bits());
      }
    }
  }
}

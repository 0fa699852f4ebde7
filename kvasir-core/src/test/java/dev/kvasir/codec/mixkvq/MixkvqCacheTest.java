package dev.kvasir.codec.mixkvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec.SizeAccuracy;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the assignment of key channels to tiers. */
@Tag("contract")
class MixkvqCacheTest {
  private static final PageWorkspace WORKSPACE =
      new PageWorkspace(KernelChoice.ofThisProcess().kernels());
  private static final long SEED = 41;
  private static final CacheShape SHAPE = new CacheShape(1, 2, 64);
  private static final int QUERY_HEADS = 4;
  private static final CacheContext HOST = CacheContext.unknown().withQueryHeads(QUERY_HEADS);
  private static final int TOKENS = 2048;

  /** Channel 9 has a large range and small queries; channel 20 has larger queries than others. */
  @Test
  void channelsWithLargeQueriesStayInHighPrecision() {
    try (KvCache cache = filled("mixkvq,high=10,mid=4", HOST)) {
      UniformPage page = page(cache);
      assertThat(page.shape(0).keys()).hasSize(3);
      assertThat(page.channelAt(0, 0)).isEqualTo(20);
      assertThat(indexOf(page, 9)).isGreaterThan(widths(page, 16) + widths(page, 4) - 1);
    }
    try (KvCache cache = filled("mixkvq,high=10,mid=2.5,salience=error", HOST)) {
      assertThat(cache.observer().observesQueries()).isFalse();
      assertThat(page(cache).channelAt(0, 0)).isEqualTo(9);
    }
  }

  @Test
  void bytesFollowTierSizes() {
    try (KvCache cache = filled("mixkvq,high=10,mid=4", HOST)) {
      long codes = 0;
      long pages = 0;
      for (int block = 1; cache.view(0, block).page() != null; block++) {
        UniformPage page = (UniformPage) cache.view(0, block).page();
        for (int head = 0; head < 2; head++) {
          List<CodeMatrix> blocks = page.shape(head).keys();
          codes += blocks.stream().mapToLong(CodeMatrix::codeBytes).sum() + 128 * 64 / 4;
          int order = blocks.size() > 1 ? 64 : 0;
          pages += order + blocks.stream().mapToLong(CodeMatrix::bytes).sum();
          pages += 128 * (64 / 4 + 4 * 64 / 32);
        }
      }
      assertThat(cache.bytes().codes()).isEqualTo(codes);
      assertThat(cache.bytes().codes() + cache.bytes().scales()).isEqualTo(pages);
      assertThat(cache.bytes().tables()).isEqualTo(8 * 2 * 64);
    }
  }

  /** Two blocks that are quantized together share their tiers. */
  @Test
  void residualTokensShareTheirTiers() {
    try (KvCache cache = filled("mixkvq,high=7,mid=3.5,residual=256", HOST)) {
      for (int block = 1; cache.view(0, block).page() != null; block += 2) {
        UniformPage first = (UniformPage) cache.view(0, block).page();
        UniformPage second = (UniformPage) cache.view(0, block + 1).page();
        for (int place = 0; place < 64; place++) {
          assertThat(second.channelAt(0, place)).isEqualTo(first.channelAt(0, place));
        }
      }
    }
  }

  @Test
  void specOverridesThresholdsOfTheProfile() {
    CacheContext context = HOST.withProfile(Optional.of(profile(10, 4)));
    try (KvCache tuned = filled("mixkvq", context);
        KvCache same = filled("mixkvq,high=10,mid=4", HOST);
        KvCache given = filled("mixkvq,mid=1000", context)) {
      assertThat(tuned.bytes()).isEqualTo(same.bytes());
      assertThat(given.bytes().codes()).isLessThan(tuned.bytes().codes());
    }
    assertThat(CacheSpec.parse("mixkvq,group=64").resolve(context).text())
        .isEqualTo("mixkvq,group=64,high=10.0,mid=4.0");
    assertThat(CacheSpec.parse("mixkvq,high=3,mid=1").resolve(context).text())
        .isEqualTo("mixkvq,high=3,mid=1");
  }

  /** Salience by error gets the thresholds that give tiers of the same sizes. */
  @Test
  void bothSalienceMeasuresTakeSimilarBytes() {
    CacheContext context = HOST.withProfile(Optional.of(profile(10, 4)));
    try (KvCache byQueries = filled("mixkvq", context);
        KvCache byError = filled("mixkvq,salience=error", context)) {
      assertThat((double) byError.bytes().codes())
          .isCloseTo(byQueries.bytes().codes(), within(0.05 * byQueries.bytes().codes()));
    }
  }

  @Test
  void measuredSharesEstimateBytes() {
    CacheContext context = HOST.withProfile(Optional.of(profile(10, 4)));
    CacheSpec spec = CacheSpec.parse("mixkvq");
    assertThat(spec.sizes(SHAPE, context)).isEqualTo(SizeAccuracy.TYPICAL);
    assertThat(spec.sizes(SHAPE, HOST)).isEqualTo(SizeAccuracy.AT_MOST);
    try (KvCache cache = filled("mixkvq", context)) {
      long found = cache.bytes().total();
      assertThat((double) spec.bytesFor(SHAPE, context, TOKENS).total())
          .isCloseTo(found, within(0.02 * found));
      assertThat(found).isLessThan(spec.bytesFor(SHAPE, HOST, TOKENS).total());
    }
  }

  @Test
  void missingThresholdsAreExplained() {
    assertThatThrownBy(() -> CacheSpec.parse("mixkvq,high=3").newCache(SHAPE, HOST))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("kvasir tune --kv mixkvq")
        .hasMessageContaining("high=A,mid=B");
    CacheContext other = HOST.withProfile(Optional.of(Profile.empty("model")));
    assertThatThrownBy(() -> CacheSpec.parse("mixkvq").newCache(SHAPE, other))
        .hasMessageContaining("profile holds none");
    assertThatThrownBy(() -> CacheSpec.parse("mixkvq,high=3,mid=1").newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("salience=error");
    assertThatThrownBy(() -> CacheSpec.parse("mixkvq:2,high=3,mid=1"))
        .hasMessageContaining("takes no bits");
  }

  /** Returns a profile with the quantiles of {@link #filled} over all blocks. */
  private static Profile profile(float high, float mid) {
    float[] byQueries = new float[64 * 15];
    float[] byError = new float[64 * 15];
    Random random = new Random(SEED);
    float[] keys = new float[128 * 64];
    for (int block = 0; block < 15; block++) {
      for (int i = 0; i < keys.length; i++) {
        keys[i] = key(random, i % 64);
      }
      for (int channel = 0; channel < 64; channel++) {
        float least = Float.MAX_VALUE;
        float most = -Float.MAX_VALUE;
        for (int at = channel; at < keys.length; at += 64) {
          least = Math.min(least, keys[at]);
          most = Math.max(most, keys[at]);
        }
        byError[block * 64 + channel] = (most - least) / 3;
        // The mean of |x| of a normal variable is the square root of 2 / pi.
        byQueries[block * 64 + channel] =
            (most - least) / 3 * querySize(channel) * (float) Math.sqrt(2 / Math.PI);
      }
    }
    return new MixkvqProfile(
            new Thresholds(high, mid),
            SalienceQuantiles.of(byQueries),
            SalienceQuantiles.of(byError))
        .addTo(Profile.empty("model"));
  }

  private static KvCache filled(String spec, CacheContext context) {
    KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context);
    Random random = new Random(SEED);
    float[] keys = new float[2 * 64];
    float[] values = new float[2 * 64];
    float[] queries = new float[QUERY_HEADS * 64];
    for (int position = 0; position < TOKENS; position++) {
      for (int i = 0; i < keys.length; i++) {
        keys[i] = key(random, i % 64);
        values[i] = (float) random.nextGaussian();
      }
      for (int i = 0; i < queries.length; i++) {
        queries[i] = (float) random.nextGaussian() * querySize(i % 64);
      }
      cache.reserve(position + 1);
      cache.append(0, position, keys, 0, values, 0);
      if (cache.observer().observesQueries()) {
        cache.observer().observe(0, position, queries, 0);
      }
      cache.advance(1);
    }
    return cache;
  }

  private static float key(Random random, int channel) {
    return (float) random.nextGaussian() * (channel == 9 ? 20 : 1 + channel % 8 / 8f);
  }

  private static float querySize(int channel) {
    return channel == 9 ? 0.01f : channel == 20 ? 8 : 1 + channel % 5 / 3f;
  }

  private static UniformPage page(KvCache cache) {
    return (UniformPage) cache.view(0, 1).page();
  }

  private static int widths(UniformPage page, int bits) {
    return page.shape(0).keys().stream()
        .filter(block -> block.bits() == bits)
        .mapToInt(CodeMatrix::rows)
        .sum();
  }

  private static int indexOf(UniformPage page, int channel) {
    for (int place = 0; place < 64; place++) {
      if (page.channelAt(0, place) == channel) {
        return place;
      }
    }
    return -1;
  }
}

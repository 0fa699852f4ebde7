package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** KV heads that pass together have the bits that they have alone. */
class HeadPassesTest {
  private static final int HEAD_DIM = 16;
  private static final CacheShape SHAPE = new CacheShape(1, 2, HEAD_DIM);

  private final SplittableRandom random = new SplittableRandom(9);

  /** With two threads, a few splits are too few for heads to pass together. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "commvq:1,beam=1         |  300 | 1",
        "commvq:1,beam=1,sinks=9 | 2300 | 3",
        "commvq:1,beam=1,window=0,values=encoder | 2300 | 7"
      })
  void oneThreadPassesHeadsTogether(String spec, int length, int group) {
    try (ModelTables tables = new ModelTables();
        KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context(tables, group, length))) {
      assertThat(cache.headsPerPass()).isEqualTo(2);
      fill(cache, length);
      float[] queries = gaussian(2 * group * HEAD_DIM);
      assertThat(attend(cache, queries, group, length, 1))
          .isEqualTo(attend(cache, queries, group, length, 2));
    }
  }

  private static CacheContext context(ModelTables tables, int group, int length) {
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, HEAD_DIM));
    return CacheContext.unknown()
        .withTables(Optional.of(tables))
        .withProfile(Optional.of(SyntheticCodebooks.profile(SHAPE, 1)))
        .withRotation(Optional.of(rope))
        .withQueryHeads(2 * group)
        .withContextLimit(length);
  }

  private void fill(KvCache cache, int length) {
    cache.reserve(length);
    for (int position = 0; position < length; position++) {
      cache.append(0, position, gaussian(2 * HEAD_DIM), 0, gaussian(2 * HEAD_DIM), 0);
    }
    cache.advance(length);
  }

  private static float[] attend(
      KvCache cache, float[] queries, int group, int length, int threads) {
    float[] out = new float[queries.length];
    try (WorkerPool workers = new WorkerPool(threads)) {
      AttentionShape shape = new AttentionShape(2 * group, 2, HEAD_DIM);
      Attention attention = new Attention(shape, KernelChoice.ofThisProcess().kernels(), workers);
      attention.begin();
      attention.add(cache, 0, 1, length - 1);
      attention.attend(0, Integer.MAX_VALUE, queries, out);
    }
    return out;
  }

  private float[] gaussian(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }
}

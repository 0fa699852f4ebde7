package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dividing keys and multiplying queries by the same factors does not change attention. */
class SmoothedAttentionTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 64);
  private static final int GROUP = 2;
  private static final int LENGTH = 400;

  private final WorkerPool workers = new WorkerPool(2);
  private final Random random = new Random(8);

  @AfterEach
  void close() {
    workers.close();
  }

  /** At 16 bits the quantization error is negligible, so this is full precision. */
  @ParameterizedTest
  @CsvSource({"1", "20"})
  void factorsChangeNothingInFullPrecision(int rows) {
    float[] keys = gaussian(SHAPE.layers() * LENGTH * 2 * 64);
    float[] values = gaussian(keys.length);
    float[] queries = gaussian(rows * 2 * GROUP * 64);
    float[] plain = attend("fp32", Optional.empty(), keys, values, queries, rows);
    float[] smoothed =
        attend(
            "pmkvq:2,budget=8MiB,keys=token", Optional.of(profile()), keys, values, queries, rows);
    assertThat(distance(plain, smoothed)).isLessThan(1e-4);
  }

  /**
   * A channel far larger than the others dominates every token's range; after division it does not.
   */
  @Test
  void factorsKeepALargeChannelFromDrowningTheOthers() {
    float[] keys = gaussian(SHAPE.layers() * LENGTH * 2 * 64);
    for (int i = 5; i < keys.length; i += 64) {
      keys[i] *= 40;
    }
    float[] values = gaussian(keys.length);
    float[] queries = gaussian(2 * GROUP * 64);
    for (int i = 5; i < queries.length; i += 64) {
      queries[i] /= 40;
    }
    float[] factors = new float[SHAPE.layers() * 2 * 64];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = i % 64 == 5 ? 40 : 1;
    }
    Profile profile = Profile.empty("m").with("pmkvq/smoothing", factors, 2, 2, 64);
    float[] plain = attend("fp32", Optional.empty(), keys, values, queries, 1);
    String spec = "pmkvq:4,budget=420KiB,keys=token";
    double with = distance(plain, attend(spec, Optional.of(profile), keys, values, queries, 1));
    double without =
        distance(
            plain, attend(spec + ",smoothing=off", Optional.of(profile), keys, values, queries, 1));
    assertThat(with).isLessThan(0.5 * without);
  }

  @Test
  void factorsThatCannotDivideAreRefused() {
    float[] factors = new float[SHAPE.layers() * 2 * 64];
    Profile profile = Profile.empty("m").with("pmkvq/smoothing", factors, 2, 2, 64);
    CacheContext context = CacheContext.unknown().withProfile(Optional.of(profile));
    assertThatThrownBy(
            () -> CacheSpec.parse("pmkvq:2,budget=8MiB,keys=token").newCache(SHAPE, context))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("a smoothing factor of layer 0 is 0.0; expected numbers above 0");
  }

  private Profile profile() {
    float[] factors = new float[SHAPE.layers() * 2 * 64];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = (float) Math.exp(random.nextDouble(-1, 1));
    }
    return Profile.empty("m").with("pmkvq/smoothing", factors, 2, 2, 64);
  }

  private float[] attend(
      String spec,
      Optional<Profile> profile,
      float[] keys,
      float[] values,
      float[] queries,
      int rows) {
    CacheContext context = CacheContext.unknown().withProfile(profile);
    try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context)) {
      for (int position = 0; position < LENGTH; position++) {
        cache.reserve(position + 1);
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          int at = (layer * LENGTH + position) * 2 * 64;
          cache.append(layer, position, keys, at, values, at);
        }
        cache.advance(1);
      }
      float[] out = new float[queries.length];
      AttentionShape shape = new AttentionShape(2 * GROUP, 2, 64);
      Attention attention = new Attention(shape, new ScalarKernels(), workers);
      attention.begin();
      attention.add(cache, 0, rows, LENGTH - rows);
      attention.attend(1, Integer.MAX_VALUE, queries, out);
      return out;
    }
  }

  private static double distance(float[] a, float[] b) {
    double error = 0;
    double norm = 0;
    for (int i = 0; i < a.length; i++) {
      error += Math.pow(a[i] - b[i], 2);
      norm += a[i] * a[i];
    }
    return Math.sqrt(error / norm);
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      // The contents of a cache before quantization.
      x[i] = Float.float16ToFloat(Float.floatToFloat16((float) random.nextGaussian()));
    }
    return x;
  }
}

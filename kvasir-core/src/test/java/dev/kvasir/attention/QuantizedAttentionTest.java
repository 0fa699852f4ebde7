package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.codec.pmkvq.PmkvqPage;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import dev.kvasir.spi.QuantizationMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attention on quantized pages equals attention over the expanded pages. */
@Tag("contract")
class QuantizedAttentionTest {
  private static final long SEED = 5;
  private static final int LENGTH = 700;
  private static final Profile NO_PROFILE = Profile.empty("none");

  private final WorkerPool workers = new WorkerPool(1);
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final ModelTables tables = new ModelTables();

  @AfterEach
  void close() {
    workers.close();
    tables.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:1                  |  64 | 4",
        "kivi:2,group=64,sinks=9 |  80 | 8",
        "kivi:3,group=32,window=0|  96 | 2",
        "kivi:4                  | 256 | 2",
        "kivi:2,k=4,v=2          | 128 | 7",
        "bf16                    |  80 | 3",
        "patternkv:2,window=0    | 128 | 1",
        "patternkv:2,v-threshold=off,group=32 | 80 | 2",
        "patternkv:2,rope=rotate,choice=peaks |  64 | 4",
        "mixkvq,high=1.5,mid=1.35 | 128 | 4",
        "mixkvq,high=1.9,mid=1.7,salience=error | 20 | 8",
        "mixkvq,high=1.5,mid=1.35,residual=96,sinks=5 | 80 | 9",
        "commvq:1                | 64 | 4",
        "commvq:2,scores=tables,sinks=0 | 80 | 1",
        "mead:3,first=coded,sinks=9 | 80 | 8",
        "mead:2,first=coded,tables=centroids | 64 | 12",
        "kivi:2                  | 64 | 9",
        "patternkv:2             | 64 | 16",
        "bf16                    | 80 | 11"
      })
  void oneTokenAttendsToTheExpandedVectors(String spec, int headDim, int group) {
    assertAttends(spec, new CacheShape(1, 2, headDim), group);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:2                  |  64 | 4",
        "kivi:2,group=32         | 128 | 1",
        "kivi:4,group=64         |  80 | 5",
        "kivi:8,window=10        |  64 | 3",
        "kivi:4                  |  20 | 2",
        "kivi:4,sinks=300        |  64 | 2",
        "patternkv:2             |  64 | 4",
        "patternkv:4,sinks=9     |  80 | 8",
        "patternkv:1,patterns=4  |  64 | 3",
        "patternkv:2,k-patterns=off | 64 | 5",
        "patternkv:2,v-patterns=off | 128 | 7",
        "patternkv:2,rope=rotate |  64 | 4",
        "patternkv:2,choice=distance |  64 | 3",
        "patternkv:4,rope=rotate,sinks=9 | 80 | 8",
        "patternkv:2,rope=rotate,window=0,patterns=3 | 128 | 1",
        "mixkvq,high=1.9,mid=1.6 | 64 | 1",
        "mixkvq,high=2,mid=1.6,group=128,sinks=0 | 80 | 4",
        "mixkvq,high=1.6,mid=2   | 128 | 4",
        "mixkvq,high=2,mid=1.6,residual=256,window=0 | 128 | 4",
        "mixkvq,high=2,mid=1.6,residual=32,window=0 | 128 | 4",
        "mixkvq,high=0.001,mid=0.001 | 96 | 3",
        "mixkvq,high=100,mid=100 | 64 | 7",
        "commvq:1,window=10      | 20 | 5",
        "commvq:2,values=encoder | 64 | 4",
        "mead:2                  | 64 | 4",
        "mead:6,budget=280KiB,first=coded | 64 | 4",
        "mead:1.5,first=coded,tables=off,window=0 | 128 | 1",
        "mixkvq,high=1.9,mid=1.6 | 64 | 12"
      })
  void soItDoesWithOtherSettings(String spec, int headDim, int group) {
    oneTokenAttendsToTheExpandedVectors(spec, headDim, group);
  }

  /** Two examples of each method, one on heads of one width and one on heads of two. */
  static Stream<Arguments> examples() {
    List<Arguments> all = new ArrayList<>();
    for (QuantizationMethod method : MethodRegistry.all()) {
      List<String> specs =
          method.examples().stream()
              .filter(ExampleSpecs::fitsAnyShape)
              .filter(example -> !example.has(Trait.SLOW_ENCODER))
              .map(MethodExample::spec)
              .filter(spec -> !spec.contains("operands=8"))
              .toList();
      if (!specs.isEmpty()) {
        all.add(Arguments.of(specs.getFirst(), new CacheShape(1, 2, 80), 5));
        all.add(Arguments.of(specs.get(1 % specs.size()), new CacheShape(1, 2, 48, 64), 3));
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void attendsOverExamplesOfEveryMethod(String spec, CacheShape shape, int group) {
    assertAttends(spec, shape, group);
  }

  private void assertAttends(String spec, CacheShape shape, int group) {
    assertThat(error(spec, shape, group)).as("%s, seed %d", spec, SEED).isLessThan(1e-3);
  }

  /** The search for codes takes seconds. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "commvq:2,beam=1         | 128 | 128 | 1",
        "commvq:2,window=0,sinks=9 | 80 | 80 | 8",
        "commvq:1,scores=tables  | 64 | 64 | 4",
        "commvq:1,scores=decoded | 64 | 64 | 2",
        "commvq:1                | 64 | 64 | 20",
        "commvq:1,values=encoder | 64 | 64 | 4",
        "commvq:2,values=encoder,window=0 | 80 | 64 | 1",
        "commvq:2,values=encoder,scores=tables | 64 | 96 | 8",
        "commvq:1                | 96 | 64 | 4",
        "commvq:2,beam=1,sinks=9 | 80 | 112 | 2",
        "commvq:1,scores=decoded | 96 | 64 | 2",
        "commvq:1,beam=1         | 288 | 256 | 4"
      })
  void codebooksSupportMoreShapes(String spec, int keyDim, int valueDim, int group) {
    assertAttends(spec, new CacheShape(1, 2, keyDim, valueDim), group);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fp16                    | 192 | 128 | 3",
        "fp32                    |  24 |  80 | 2",
        "kivi:2,group=64         | 192 | 128 | 4",
        "kivi:3,k=2,window=0     |  80 | 112 | 5",
        "patternkv:4,rope=static,sinks=9 | 48 | 80 | 8",
        "patternkv:2,k-patterns=off | 96 | 64 | 3",
        "mixkvq,high=1.9,mid=1.7,salience=error | 20 | 36 | 8",
        "pmkvq:2,budget=4MiB,keys=token | 192 | 128 | 4",
        "pmkvq:2,budget=300KiB,keys=token,shrink=layer | 48 | 80 | 1",
        "commvq:1,scores=tables  | 48 | 80 | 4",
        "mead:2                  | 96 | 64 | 3",
        "toy                     | 24 | 80 | 3"
      })
  void valuesMayBeOfAnotherWidthThanKeys(String spec, int keyDim, int valueDim, int group) {
    assertAttends(spec, new CacheShape(1, 2, keyDim, valueDim), group);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bf16                    | 256 | 128 | 9",
        "kivi:4,group=32,sinks=9 | 256 | 128 | 1",
        "patternkv:2             | 192 | 128 | 4",
        "mixkvq,high=1.9,mid=1.6 | 192 | 128 | 1",
        "pmkvq:2,budget=700KiB   | 192 | 128 | 2",
        "mead:2,first=coded      | 48 | 80 | 2"
      })
  void norNeedTheyWithOtherSettings(String spec, int keyDim, int valueDim, int group) {
    valuesMayBeOfAnotherWidthThanKeys(spec, keyDim, valueDim, group);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fp16                    | 576 | 512 | 16",
        "kivi:3,sinks=9          | 576 | 512 | 1",
        "kivi:4                  | 1024 | 1024 | 2",
        "patternkv:2,patterns=4  | 576 | 512 | 3",
        "mixkvq,high=1.9,mid=1.6 | 576 | 512 | 4",
        "pmkvq:2,budget=8MiB     | 576 | 512 | 4",
        "pmkvq:2,budget=1300KiB,keys=token | 576 | 512 | 2",
        "mead:2,first=coded,tables=off | 576 | 512 | 4",
        "toy                     | 576 | 512 | 2"
      })
  void headsMayBeLarge(String spec, int keyDim, int valueDim, int group) {
    assertAttends(spec, new CacheShape(1, 1, keyDim, valueDim), group);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fp16                    | 576 | 512 | 16",
        "fp32                    | 72 | 64 | 2",
        "kivi:4,sinks=9          | 72 | 64 | 1",
        "kivi:3,window=0         | 40 | 20 | 9",
        "kivi:2                  | 73 | 64 | 2",
        "patternkv:4,sinks=9     | 72 | 64 | 3",
        "patternkv:2             | 64 | 64 | 1",
        "mixkvq,high=1.9,mid=1.7,salience=error,rotary=16 | 72 | 64 | 3",
        "pmkvq:2,budget=1MiB,keys=token | 576 | 512 | 4",
        "pmkvq:2,budget=200KiB,rotary=16 | 72 | 64 | 3"
      })
  void valuesMayBePartOfKeys(String spec, int keyDim, int valueDim, int group) {
    int kvHeads = keyDim > 100 ? 1 : 2; // large ones take long
    CacheShape latent = new CacheShape(1, kvHeads, keyDim, valueDim, ValueOrigin.IN_KEYS);
    assertThat(error(spec, latent, group)).as("%s, seed %d", spec, SEED).isLessThan(1e-3);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bf16                    | 72 | 64 | 3",
        "kivi:2,group=64         | 576 | 512 | 16",
        "kivi:8                  | 64 | 64 | 4",
        "kivi:2,rotary=16        | 72 | 64 | 9",
        "patternkv:2             | 576 | 512 | 16",
        "mixkvq,high=2.8,mid=2   | 576 | 512 | 4",
        "pmkvq:2,budget=4MiB     | 72 | 64 | 4"
      })
  void soTheyMayWithOtherSettings(String spec, int keyDim, int valueDim, int group) {
    valuesMayBePartOfKeys(spec, keyDim, valueDim, group);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pmkvq:2,budget=4MiB,window=0,keys=token,shrink=layer | 192 | 8 | 16",
        "pmkvq:8,budget=380KiB,keys=token,shrink=layer | 64 | 4 | 8",
        "pmkvq:4,budget=600KiB,sinks=9,keys=token,shrink=layer | 128 | 8 | 4",
        "pmkvq:2,budget=90KiB,shift=modified,keys=token,shrink=layer | 20 | 2 | 2",
        "pmkvq:2,budget=4MiB,keys=channel,shrink=layer | 64 | 4 | 16",
        "pmkvq:8,budget=380KiB,keys=channel,shrink=layer | 64 | 4 | 8",
        "pmkvq:4,budget=600KiB,keys=channel,sinks=9,shrink=layer | 128 | 8 | 4",
        "pmkvq:2,budget=250KiB,keys=channel,shrink=layer | 64 | 4 | 2",
        "pmkvq:2,budget=300KiB,shrink=page,keys=token | 64 | 4 | 4",
        "pmkvq:2,budget=300KiB | 64 | 4 | 4"
      })
  void pagesAreReadAtEveryRequantizedWidth(String spec, int headDim, int group, int bits) {
    assertThat(error(spec, new CacheShape(1, 2, headDim), group))
        .as("%s, seed %d", spec, SEED)
        .isLessThan(1e-3);
    try (KvCache cache = CacheSpec.parse(spec).newCache(new CacheShape(1, 2, headDim))) {
      fill(cache, 2 * headDim, 2 * headDim, group * 2 * headDim);
      int quantized = cache.blockOf(200);
      assertThat(((PmkvqPage) cache.view(0, quantized).page()).bits()).isEqualTo(bits);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pmkvq:2,budget=4MiB,keys=token,shrink=layer | 64 | 4 | 16",
        "pmkvq:2,budget=4MiB,keys=token,shrink=layer | 256 | 2 | 16",
        "pmkvq:2,budget=1100KiB,window=0,keys=token,shrink=layer | 192 | 2 | 8",
        "pmkvq:4,budget=300KiB,keys=token,shrink=layer | 64 | 3 | 4",
        "pmkvq:2,budget=250KiB,keys=token,shrink=layer | 64 | 4 | 2",
        "pmkvq:2,budget=960KiB,keys=token,shrink=layer | 256 | 1 | 2",
        "pmkvq:2,budget=4MiB,keys=channel,shrink=layer | 192 | 8 | 16",
        "pmkvq:2,budget=90KiB,keys=channel,shift=modified,shrink=layer | 20 | 2 | 2",
        "pmkvq:2,budget=4MiB | 20 | 2 | 16",
        "pmkvq:2,budget=4MiB | 256 | 1 | 16"
      })
  void soTheyAreInOtherShapes(String spec, int headDim, int group, int bits) {
    pagesAreReadAtEveryRequantizedWidth(spec, headDim, group, bits);
  }

  /** Random values cancel each other, so an error weighs more than in a model. */
  @ParameterizedTest
  @ValueSource(strings = {"kivi:1", "kivi:2", "kivi:2,group=32", "kivi:4", "kivi:8"})
  void fastOperandsComeClose(String spec) {
    assertThat(error(spec + ",operands=8", new CacheShape(1, 2, 128), 4)).isBetween(1e-4, 1e-1);
  }

  /** Returns the error of attention relative to the norm of the output. */
  private double error(String spec, CacheShape cacheShape, int group) {
    int keyDim = cacheShape.keyDim();
    int valueDim = cacheShape.valueDim();
    int kvHeads = cacheShape.kvHeads();
    int heads = kvHeads * group;
    AttentionShape shape = new AttentionShape(heads, kvHeads, keyDim, valueDim);
    // A quarter of the channels is not rotary, as in some models.
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, keyDim * 3 / 4));
    try (KvCache cache =
        CacheSpec.parse(spec)
            .newCache(
                cacheShape,
                CacheContext.unknown()
                    .withTables(Optional.of(tables))
                    .withProfile(Optional.of(codebooks(spec, cacheShape)))
                    .withRotation(Optional.of(rope))
                    .withQueryHeads(shape.queryHeads())
                    .withContextLimit(2 * LENGTH))) {
      fill(cache, kvHeads * keyDim, kvHeads * valueDim, shape.queryHeads() * keyDim);
      float[] query = gaussian(heads * keyDim);
      float[] found = new float[heads * valueDim];
      Attention attention = new Attention(shape, kernels, workers);
      attention.begin();
      attention.add(cache, 0, 1, LENGTH - 1);
      attention.attend(0, Integer.MAX_VALUE, query, found);

      double error = 0;
      double norm = 0;
      List<Expanded> expanded =
          IntStream.range(0, kvHeads).mapToObj(head -> expand(cache, head, cacheShape)).toList();
      for (int head = 0; head < heads; head++) {
        double[] expected = naive(expanded.get(head / group), query, head);
        for (int i = 0; i < valueDim; i++) {
          error += Math.pow(found[head * valueDim + i] - expected[i], 2);
          norm += expected[i] * expected[i];
        }
      }
      return Math.sqrt(error / norm);
    }
  }

  /** Creates codebooks on demand, since those of large heads take long. */
  private static Profile codebooks(String spec, CacheShape shape) {
    if (ExampleSpecs.method(spec).calibration().isEmpty()) {
      return NO_PROFILE;
    }
    return spec.startsWith("commvq")
        ? SyntheticCodebooks.profile(shape, spec.charAt("commvq:".length()) - '0')
        : SyntheticProfileParts.addTo(NO_PROFILE, shape);
  }

  private void fill(KvCache cache, int keys, int values, int queries) {
    for (int position = 0; position < LENGTH; position++) {
      cache.reserve(position + 1);
      cache.append(0, position, gaussian(keys), 0, gaussian(values), 0);
      if (cache.observer().observesQueries()) {
        cache.observer().observe(0, position, gaussian(queries), 0);
      }
      if (position % 100 == 99) {
        cache.advance(position + 1 - cache.length());
      }
    }
  }

  /** Vectors of a KV head, (position, channel). */
  private record Expanded(double[][] keys, double[][] values) {}

  private Expanded expand(KvCache cache, int kvHead, CacheShape shape) {
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    double[][] keys = new double[LENGTH][keyDim];
    double[][] values = new double[LENGTH][valueDim];
    float[] block = new float[KvCache.TOKENS_PER_PAGE * Math.max(keyDim, valueDim)];
    for (int b = 0; cache.firstPosition(b) < LENGTH; b++) {
      int first = cache.firstPosition(b);
      int count = Math.min(cache.firstPosition(b + 1), LENGTH) - first;
      cache.view(0, b).expandKeys(kernels, kvHead, count, block);
      put(block, keys, first, count);
      cache.view(0, b).expandValues(kernels, kvHead, count, block);
      put(block, values, first, count);
    }
    return new Expanded(keys, values);
  }

  /** Computes softmax attention in double precision. */
  private static double[] naive(Expanded past, float[] query, int head) {
    int keyDim = past.keys()[0].length;
    double[] queryOfHead = new double[keyDim];
    for (int i = 0; i < keyDim; i++) {
      queryOfHead[i] = query[head * keyDim + i];
    }
    return NaiveAttention.attend(
        queryOfHead, past.keys(), past.values(), LENGTH - 1, Integer.MAX_VALUE);
  }

  private static void put(float[] block, double[][] vectors, int first, int count) {
    for (int token = 0; token < count; token++) {
      double[] vector = vectors[first + token];
      for (int i = 0; i < vector.length; i++) {
        vector[i] = block[token * vector.length + i];
      }
    }
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}

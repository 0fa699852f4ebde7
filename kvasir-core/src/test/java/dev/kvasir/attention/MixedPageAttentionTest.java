package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.Bf16Codes;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Attention on pages with several widths, per-token scales and unquantized channels equals
 * attention over the expanded pages, also after a page was stored and read again.
 */
class MixedPageAttentionTest {
  private static final long SEED = 11;
  private static final int LENGTH = 600;
  private static final int KV_HEADS = 2;
  private static final int T = Page.TOKENS;

  private final WorkerPool workers = new WorkerPool(2);
  private final Kernels kernels = new ScalarKernels();
  private final SplittableRandom random = new SplittableRandom(SEED);

  @AfterEach
  void close() {
    workers.close();
  }

  /** Quantizes every head with the same shape, in a channel order that differs by page. */
  private record MixedCodec(HeadShape shape, boolean stored) implements StatelessCodec {
    @Override
    public Page quantize(
        SharedArena memory, int layer, int position, float[] keys, float[] values) {
      List<HeadShape> shapes = Collections.nCopies(KV_HEADS, shape);
      int[][] orders = new int[KV_HEADS][];
      for (int head = 0; head < KV_HEADS; head++) {
        orders[head] = shuffled(shape.keyDim(), position + head);
      }
      UniformPage page = UniformPage.quantize(shapes, OperandPrecision.EXACT, orders, keys, values);
      if (!stored) {
        return page;
      }
      try (page) {
        return deserialize(layer, page.serialize());
      }
    }

    @Override
    public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
      return UniformPage.deserialize(
          memory, snapshot, KV_HEADS, found -> shape, OperandPrecision.EXACT);
    }

    private static int[] shuffled(int count, long seed) {
      List<Integer> order = new ArrayList<>(IntStream.range(0, count).boxed().toList());
      Collections.shuffle(order, new Random(seed));
      return order.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public long pageBytes() {
      return (long) KV_HEADS * shape.bytes();
    }

    @Override
    public long codeBytes() {
      return (long) KV_HEADS * shape.codeBytes();
    }
  }

  static Stream<Arguments> shapes() {
    CodeMatrix values = new RowScaledCodes(T, 128, 2, 128);
    return Stream.of(
        Arguments.of(
            "three widths and halves, tiers that fill no quads",
            new HeadShape(
                List.of(
                    new Bf16Codes(3, T),
                    new RowScaledCodes(13, T, 4, 32),
                    new RowScaledCodes(1, T, 3, 64),
                    new RowScaledCodes(111, T, 2, 128)),
                true,
                values)),
        Arguments.of(
            "keys by token, one scale a head",
            new HeadShape(List.of(new ColumnScaledCodes(128, T, 4)), false, values)),
        Arguments.of(
            "keys by token in groups of 32 channels, values in groups",
            new HeadShape(
                Collections.nCopies(4, new ColumnScaledCodes(32, T, 2)),
                false,
                new RowScaledCodes(T, 128, 4, 32))),
        Arguments.of(
            "odd sizes",
            new HeadShape(
                List.of(new ColumnScaledCodes(7, T, 1), new RowScaledCodes(35, T, 8, 128)),
                true,
                new RowScaledCodes(T, 42, 3, 64))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("shapes")
  void oneTokenAttendsToTheExpandedVectors(String name, HeadShape shape) {
    for (int group : new int[] {1, 4, 5}) {
      for (boolean stored : new boolean[] {false, true}) {
        assertThat(error(new MixedCodec(shape, stored), group)).as(name).isLessThan(1e-3);
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("shapes")
  void bytesAreTheSumOfTheParts(String name, HeadShape shape) {
    MixedCodec codec = new MixedCodec(shape, false);
    try (KvCache cache = filled(codec)) {
      assertThat(cache.bytes().codes()).isEqualTo(3 * codec.codeBytes());
      assertThat(cache.bytes().scales()).isEqualTo(3 * (codec.pageBytes() - codec.codeBytes()));
    }
  }

  private KvCache filled(MixedCodec codec) {
    int headDim = codec.shape().keyDim();
    CacheConfig settings = new CacheConfig(Precision.F16, 0, 128, Optional.of(codec));
    KvCache cache = new PagedCache(new CacheShape(1, KV_HEADS, headDim), settings);
    cache.reserve(LENGTH);
    for (int position = 0; position < LENGTH; position++) {
      int vector = KV_HEADS * headDim;
      cache.append(0, position, gaussian(vector), 0, gaussian(vector), 0);
    }
    cache.advance(LENGTH);
    return cache;
  }

  private double error(MixedCodec codec, int group) {
    int headDim = codec.shape().keyDim();
    try (KvCache cache = filled(codec)) {
      float[] query = gaussian(KV_HEADS * group * headDim);
      float[] found = new float[query.length];
      AttentionShape shape = new AttentionShape(KV_HEADS * group, KV_HEADS, headDim);
      Attention attention = new Attention(shape, kernels, workers);
      attention.begin();
      attention.add(cache, 0, 1, LENGTH - 1);
      attention.attend(0, Integer.MAX_VALUE, query, found);
      double error = 0;
      double norm = 0;
      for (int head = 0; head < KV_HEADS * group; head++) {
        double[] expected = naive(cache, head / group, query, head * headDim, headDim);
        for (int i = 0; i < headDim; i++) {
          error += Math.pow(found[head * headDim + i] - expected[i], 2);
          norm += expected[i] * expected[i];
        }
      }
      return Math.sqrt(error / norm);
    }
  }

  private double[] naive(KvCache cache, int kvHead, float[] query, int at, int headDim) {
    double[][] keys = new double[LENGTH][headDim];
    double[][] values = new double[LENGTH][headDim];
    float[] block = new float[T * headDim];
    for (int b = 0; cache.firstPosition(b) < LENGTH; b++) {
      int first = cache.firstPosition(b);
      int count = Math.min(cache.firstPosition(b + 1), LENGTH) - first;
      cache.view(0, b).expandKeys(kernels, kvHead, count, block);
      copy(block, count, keys, first);
      cache.view(0, b).expandValues(kernels, kvHead, count, block);
      copy(block, count, values, first);
    }
    double[] q = new double[headDim];
    Arrays.setAll(q, i -> query[at + i]);
    return NaiveAttention.attend(q, keys, values, LENGTH - 1, Integer.MAX_VALUE);
  }

  private static void copy(float[] block, int count, double[][] vectors, int first) {
    int headDim = vectors[0].length;
    for (int i = 0; i < count * headDim; i++) {
      vectors[first + i / headDim][i % headDim] = block[i];
    }
  }

  /** Returns channels of different magnitudes, with scores whose spread is near one. */
  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() * (1 + i % 5) / 4;
    }
    return x;
  }
}

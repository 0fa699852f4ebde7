package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares attention with its definition, over the keys and values that the cache returns. */
@Tag("contract")
class AttentionTest {
  private static final long SEED = 23;
  private static final int ALL = Integer.MAX_VALUE;
  private static final int LAYER = 1;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private WorkerPool workers = new WorkerPool(1);
  private float size = 1;

  /** A cache and its contents in one layer. */
  private record CachedSequence(KvCache cache, double[][][] keys, double[][][] values)
      implements AutoCloseable { // (kvHead, position, keyDim or valueDim)
    @Override
    public void close() {
      cache.close();
    }
  }

  /** Consecutive queries at the end of a sequence. */
  private record QueryRun(CachedSequence sequence, int count) {
    int position() {
      return sequence.keys()[0].length - count;
    }
  }

  @AfterEach
  void close() {
    workers.close();
  }

  /** Every group and every width once; thorough runs try all pairs. */
  static Stream<Arguments> shapes() {
    if (!Boolean.getBoolean("kvasir.thorough")) {
      return Stream.of(
          Arguments.of(1, 8),
          Arguments.of(2, 48),
          Arguments.of(4, 80),
          Arguments.of(7, 64),
          Arguments.of(8, 8));
    }
    return Stream.of(1, 2, 4, 7, 8)
        .flatMap(group -> Stream.of(8, 48, 64, 80).map(dim -> Arguments.of(group, dim)));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void oneTokenSeesAllBeforeIt(int group, int headDim) {
    AttentionShape shape = new AttentionShape(2 * group, 2, headDim);
    for (int length : new int[] {1, 2, 127, 128, 129, 300}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, ALL, new QueryRun(sequence, 1));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void aPromptSeesOnlyWhatIsBeforeEachToken(int group, int headDim) {
    AttentionShape shape = new AttentionShape(group, 1, headDim);
    for (int length : new int[] {2, 65, 128, 129, 200}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, ALL, new QueryRun(sequence, length));
      }
    }
  }

  /** Few rows, many rows, and merged KV splits. */
  @ParameterizedTest
  @CsvSource({"1, 192, 128", "4, 24, 8", "7, 8, 20", "9, 16, 48"})
  void valuesMayBeOfAnotherWidthThanKeys(int group, int keyDim, int valueDim) {
    AttentionShape shape = new AttentionShape(2 * group, 2, keyDim, valueDim);
    for (int length : new int[] {1, 129, 300, 2100}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, ALL, new QueryRun(sequence, 1));
        assertAttends(shape, 150, new QueryRun(sequence, Math.min(length, 70)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {0.5f, 2, 50})
  void scoresMayBeSoftCapped(float cap) {
    AttentionShape shape = new AttentionShape(6, 2, 16, 8, cap);
    for (int length : new int[] {1, 129, 300, 2100}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, ALL, new QueryRun(sequence, 1));
        assertAttends(shape, 150, new QueryRun(sequence, Math.min(length, 70)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aPromptMayContinueWhatTheCacheHolds(int workerCount) {
    workers.close();
    workers = new WorkerPool(workerCount);
    AttentionShape shape = new AttentionShape(6, 3, 16);
    try (CachedSequence sequence = sequence(shape, 300)) {
      for (int count : new int[] {1, 31, 32, 33, 44, 45, 172, 173, 299}) {
        assertAttends(shape, ALL, new QueryRun(sequence, count));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 128, 500})
  void aWindowHidesWhatIsFartherBack(int window) {
    AttentionShape shape = new AttentionShape(4, 2, 16);
    for (int length : new int[] {1, 3, 100, 101, 128, 129, 256, 257, 400}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, window, new QueryRun(sequence, 1));
        assertAttends(shape, window, new QueryRun(sequence, length));
        assertAttends(shape, window, new QueryRun(sequence, (length + 1) / 2));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void severalSequencesOfAStepDoNotSeeEachOther(int workerCount) {
    workers.close();
    workers = new WorkerPool(workerCount);
    AttentionShape shape = new AttentionShape(8, 2, 24);
    List<CachedSequence> sequences =
        Stream.of(1, 130, 5, 257, 128, 64).map(length -> sequence(shape, length)).toList();
    assertAttends(
        shape,
        ALL,
        new QueryRun(sequences.get(0), 1),
        new QueryRun(sequences.get(1), 100),
        new QueryRun(sequences.get(2), 1),
        new QueryRun(sequences.get(3), 1),
        new QueryRun(sequences.get(4), 128),
        new QueryRun(sequences.get(5), 2));
    sequences.forEach(CachedSequence::close);
  }

  /** More than two KV splits, whose outputs are merged; a window may start in any of them. */
  @ParameterizedTest
  @ValueSource(ints = {ALL, 1, 128, 2000, 2300, 4200})
  void splitsOfALongPastAreMerged(int window) {
    AttentionShape shape = new AttentionShape(4, 2, 8);
    for (int length : new int[] {2047, 2048, 2049, 4097, 5000}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        assertAttends(shape, window, new QueryRun(sequence, 1));
        assertAttends(shape, window, new QueryRun(sequence, 3), new QueryRun(sequence, 1));
      }
    }
  }

  /**
   * Rows of one tile over blocks that some of them do not see: a split ends among their positions,
   * and so does a block that their windows start in.
   */
  @ParameterizedTest
  @CsvSource({"1, 1990", "4, 5000", "4, 150", "12, 1990"})
  void rowsOfAPromptHaveTheBitsOfSingleTokens(int group, int window) {
    AttentionShape shape = new AttentionShape(2 * group, 2, 16);
    int width = shape.queryHeads() * shape.keyDim();
    int count = 60;
    try (CachedSequence sequence = sequence(shape, 2080)) {
      QueryRun prompt = new QueryRun(sequence, count);
      float[] queries = gaussian(count * width);
      float[] together = run(shape, window, queries, prompt);
      Attention attention = new Attention(shape, KernelChoice.ofThisProcess().kernels(), workers);
      for (int token = 0; token < count; token += 5) {
        float[] alone = new float[width];
        attention.begin();
        attention.add(sequence.cache(), 0, 1, prompt.position() + token);
        int at = token * width;
        attention.attend(LAYER, window, Arrays.copyOfRange(queries, at, at + width), alone);
        assertThat(Arrays.copyOfRange(together, at, at + width)).isEqualTo(alone);
      }
    }
  }

  @Test
  void theNumberOfThreadsDoesNotChangeABit() {
    AttentionShape shape = new AttentionShape(4, 2, 16);
    float[] query = gaussian(4 * 16);
    try (CachedSequence sequence = sequence(shape, 5000)) {
      float[] alone = run(shape, ALL, query, new QueryRun(sequence, 1));
      workers.close();
      workers = new WorkerPool(5);
      assertThat(run(shape, ALL, query, new QueryRun(sequence, 1))).isEqualTo(alone);
    }
  }

  @Test
  void buffersGrowWithTheNumberOfBlocks() {
    AttentionShape shape = new AttentionShape(64, 1, 8);
    try (CachedSequence sequence = sequence(shape, 100)) {
      assertAttends(shape, ALL, new QueryRun(sequence, 100));
    }
  }

  @Test
  void moreHeadsThanABlockHasRowsWork() {
    AttentionShape shape = new AttentionShape(100, 1, 8);
    try (CachedSequence sequence = sequence(shape, 10)) {
      assertAttends(shape, ALL, new QueryRun(sequence, 10));
    }
  }

  @Test
  void anInstanceServesOneStepAfterAnother() {
    AttentionShape shape = new AttentionShape(4, 2, 16);
    Attention attention = new Attention(shape, KernelChoice.ofThisProcess().kernels(), workers);
    for (int length : new int[] {200, 1, 129}) {
      try (CachedSequence sequence = sequence(shape, length)) {
        check(attention, shape, ALL, new QueryRun(sequence, length));
        check(attention, shape, ALL, new QueryRun(sequence, 1));
      }
    }
  }

  /** Scores in the thousands, whose plain exponentials would be infinite. */
  @ParameterizedTest
  @ValueSource(floats = {100, 1000, 10_000})
  void extremeScoresDoNotOverflow(float extreme) {
    size = extreme;
    AttentionShape shape = new AttentionShape(2, 1, 8);
    try (CachedSequence sequence = sequence(shape, 300)) {
      float[] out = run(shape, ALL, gaussian(2 * 8 * 300), new QueryRun(sequence, 300));
      for (float value : out) {
        assertThat(value).isFinite().isBetween(-70_000f, 70_000f);
      }
    }
  }

  @Test
  void aScoreFarAboveTheOthersTakesAll() {
    AttentionShape shape = new AttentionShape(1, 1, 8);
    for (int loud : new int[] {0, 127, 128, 299}) {
      float[] query = new float[8];
      query[0] = 3e4f;
      float[] value = gaussian(8);
      try (CachedSequence sequence =
          sequence(
              shape,
              300,
              position -> position == loud ? query : gaussian(8),
              position -> position == loud ? value : gaussian(8))) {
        float[] out = run(shape, ALL, query, new QueryRun(sequence, 1));
        for (int i = 0; i < 8; i++) {
          assertThat(out[i]).isEqualTo(half(value[i]));
        }
      }
    }
  }

  private void assertAttends(AttentionShape shape, int window, QueryRun... queryRuns) {
    check(
        new Attention(shape, KernelChoice.ofThisProcess().kernels(), workers),
        shape,
        window,
        queryRuns);
  }

  private void check(Attention attention, AttentionShape shape, int window, QueryRun... queryRuns) {
    int rows = Stream.of(queryRuns).mapToInt(QueryRun::count).sum();
    float[] queries = gaussian(rows * shape.queryHeads() * shape.keyDim());
    float[] out = run(attention, shape, window, queries, queryRuns);
    int at = 0;
    int outAt = 0;
    for (QueryRun queryRun : queryRuns) {
      for (int token = 0; token < queryRun.count(); token++) {
        for (int head = 0; head < shape.queryHeads(); head++) {
          double[] query = new double[shape.keyDim()];
          for (int i = 0; i < query.length; i++) {
            query[i] = queries[at + i];
          }
          int kvHead = head / shape.queriesPerKvHead();
          double[] expected =
              NaiveAttention.attend(
                  query,
                  queryRun.sequence().keys()[kvHead],
                  queryRun.sequence().values()[kvHead],
                  queryRun.position() + token,
                  window,
                  shape.softCap());
          double worst = 0;
          for (int i = 0; i < expected.length; i++) {
            worst = Math.max(worst, Math.abs(out[outAt + i] - expected[i]));
          }
          if (!(worst < 2e-5)) {
            fail("seed %d, %s, token %d, head %d: off by %s", SEED, shape, token, head, worst);
          }
          at += shape.keyDim();
          outAt += shape.valueDim();
        }
      }
    }
  }

  private float[] run(AttentionShape shape, int window, float[] queries, QueryRun... queryRuns) {
    return run(
        new Attention(shape, KernelChoice.ofThisProcess().kernels(), workers),
        shape,
        window,
        queries,
        queryRuns);
  }

  private static float[] run(
      Attention attention,
      AttentionShape shape,
      int window,
      float[] queries,
      QueryRun... queryRuns) {
    attention.begin();
    int row = 0;
    for (QueryRun queryRun : queryRuns) {
      attention.add(queryRun.sequence().cache(), row, queryRun.count(), queryRun.position());
      row += queryRun.count();
    }
    float[] out = new float[queries.length / shape.keyDim() * shape.valueDim()];
    attention.attend(LAYER, window, queries, out);
    return out;
  }

  private CachedSequence sequence(AttentionShape shape, int length) {
    int keys = shape.kvHeads() * shape.keyDim();
    int values = shape.kvHeads() * shape.valueDim();
    return sequence(shape, length, position -> gaussian(keys), position -> gaussian(values));
  }

  private CachedSequence sequence(
      AttentionShape shape, int length, IntFunction<float[]> keyAt, IntFunction<float[]> valueAt) {
    KvCache cache =
        CacheSpec.DEFAULT.newCache(
            new CacheShape(2, shape.kvHeads(), shape.keyDim(), shape.valueDim()));
    cache.reserve(length);
    double[][][] keys = new double[shape.kvHeads()][length][shape.keyDim()];
    double[][][] values = new double[shape.kvHeads()][length][shape.valueDim()];
    int widest = Math.max(shape.keyDim(), shape.valueDim());
    for (int position = 0; position < length; position++) {
      float[] key = keyAt.apply(position);
      float[] value = valueAt.apply(position);
      cache.append(LAYER, position, key, 0, value, 0);
      float[] other = gaussian(shape.kvHeads() * widest); // must not be confused with ours
      cache.append(0, position, other, 0, other, 0);
      putHalves(key, keys, position);
      putHalves(value, values, position);
    }
    cache.advance(length);
    return new CachedSequence(cache, keys, values);
  }

  private static void putHalves(float[] vector, double[][][] heads, int position) {
    int width = heads[0][position].length;
    for (int i = 0; i < heads.length * width; i++) {
      heads[i / width][position][i % width] = half(vector[i]);
    }
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() * size;
    }
    return x;
  }

  private static float half(float value) {
    return Float.float16ToFloat(Float.floatToFloat16(value));
  }
}

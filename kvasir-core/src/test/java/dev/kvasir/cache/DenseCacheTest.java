package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DenseCacheTest {
  private static final long SEED = 17;
  private static final CacheShape SHAPE = new CacheShape(3, 2, 5);
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;

  private final Kernels kernels = new ScalarKernels();
  private final long bytesBefore = CountedArena.liveBytes();
  private final long arenasBefore = CountedArena.liveArenas();
  private final KvCache cache = CacheSpec.DEFAULT.newCache(SHAPE);

  @AfterEach
  void closingFreesAll() {
    cache.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 127, 128, 129, 300})
  void whatIsAppendedComesBackAtHalfPrecision(int tokens) {
    fill(tokens, SEED);
    assertThat(cache.length()).isEqualTo(tokens);
    assertHolds(tokens, SEED);
  }

  @Test
  void positionsCountOnlyOnceTheyAreAdvanced() {
    cache.reserve(4);
    cache.append(0, 0, new float[VECTOR], 0, new float[VECTOR], 0);
    assertThat(cache.length()).isZero();
    cache.advance(1);
    assertThat(cache.length()).isEqualTo(1);
  }

  @Test
  void vectorsAreReadFromTheirOffset() {
    cache.reserve(1);
    float[] keys = new float[VECTOR + 3];
    float[] values = new float[VECTOR + 7];
    keys[3] = 1;
    values[7 + VECTOR - 1] = 2;
    cache.append(1, 0, keys, 3, values, 7);
    float[] out = new float[SHAPE.headDim()];
    cache.view(1, 0).expandKeys(kernels, 0, 1, out);
    assertThat(out).containsExactly(1, 0, 0, 0, 0);
    cache.view(1, 0).expandValues(kernels, 1, 1, out);
    assertThat(out).containsExactly(0, 0, 0, 0, 2);
  }

  @Test
  void bytesAreAllocatedAndMatchTheEstimate() {
    for (int tokens : new int[] {0, 1, 127, 128, 129, 256, 257, 1000}) {
      cache.reserve(tokens);
      assertThat(cache.bytes().total())
          .isEqualTo(CountedArena.liveBytes() - bytesBefore)
          .isEqualTo(CacheSpec.DEFAULT.bytesFor(SHAPE, tokens).total())
          .isEqualTo(Math.ceilDiv(tokens, PAGE) * 3L * 2 * 2 * PAGE * 5 * 2);
    }
  }

  @Test
  void truncatingIntoAPageKeepsWhatIsBeforeIt() {
    fill(300, SEED);
    cache.truncate(200);
    assertThat(cache.length()).isEqualTo(200);
    assertThat(cache.bytes().total()).isEqualTo(CacheSpec.DEFAULT.bytesFor(SHAPE, 200).total());
    assertHolds(200, SEED);
  }

  @Test
  void truncatingAcrossPagesFreesThem() {
    fill(300, SEED);
    for (int tokens : new int[] {257, 256, 129, 128, 127, 1, 0}) {
      cache.truncate(tokens);
      assertThat(cache.bytes().total())
          .isEqualTo(CacheSpec.DEFAULT.bytesFor(SHAPE, tokens).total())
          .isEqualTo(CountedArena.liveBytes() - bytesBefore);
      assertHolds(tokens, SEED);
    }
  }

  @Test
  void whatIsAppendedAfterATruncationReplacesWhatWasThere() {
    fill(200, SEED);
    cache.truncate(100);
    Random other = new Random(SEED + 1);
    cache.reserve(150);
    for (int position = 100; position < 150; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, position, vector(other), 0, vector(other), 0);
      }
    }
    cache.advance(50);
    assertThat(cache.length()).isEqualTo(150);
    assertHolds(100, SEED);
    other = new Random(SEED + 1);
    float[] found = new float[PAGE * SHAPE.headDim()];
    cache.view(0, 0).expandKeys(kernels, 0, 101, found);
    assertThat(found[100 * SHAPE.headDim()]).isEqualTo(half(vector(other)[0]));
  }

  @Test
  void truncatingBeyondTheLengthIsRejected() {
    fill(10, SEED);
    for (int bad : new int[] {-1, 11}) {
      assertThatThrownBy(() -> cache.truncate(bad))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("length is %d; expected 0 to 10", bad);
    }
    assertThat(cache.length()).isEqualTo(10);
  }

  @Test
  void aPositionThatIsNotReservedIsRefused() {
    cache.reserve(128);
    float[] vector = new float[VECTOR];
    assertThatThrownBy(() -> cache.append(0, 128, vector, 0, vector, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("position is 128; reserved are 0 to 127");
    assertThatThrownBy(() -> cache.advance(129))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("length would be 129; reserved are 128");
  }

  /** The error is simulated, since requesting all memory of a machine may end the process. */
  @Test
  void failedAllocationsLeaveTheCacheUnchanged() {
    cache.reserve(1);
    MemoryPool pool = new MemoryPool(cache.bytes().total() - 1);
    pool.register(
        (level, bytes) -> {
          throw new OutOfMemoryError("made up");
        });
    try (KvCache refused =
        CacheSpec.DEFAULT.newCache(SHAPE, CacheContext.unknown().withMemory(pool))) {
      assertThatThrownBy(() -> refused.reserve(1)).hasMessage("made up");
      assertThat(refused.bytes().total()).isZero();
      assertThat(pool.usedBytes()).isZero();
    }
    cache.close();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  @Test
  void closingTwiceIsFine() {
    fill(5, SEED);
    cache.close();
    assertThatCode(cache::close).doesNotThrowAnyException();
    assertThat(cache.bytes().total()).isZero();
    assertThat(cache.length()).isZero();
  }

  @Test
  void useAfterCloseIsReported() {
    fill(5, SEED);
    cache.close();
    float[] vector = new float[VECTOR];
    assertClosed(() -> cache.reserve(1));
    assertClosed(() -> cache.append(0, 0, vector, 0, vector, 0));
    assertClosed(() -> cache.advance(1));
    assertClosed(() -> cache.truncate(0));
    assertClosed(() -> cache.view(0, 0).expandKeys(kernels, 0, 1, vector));
    assertClosed(() -> cache.view(0, 0).expandValues(kernels, 0, 1, vector));
  }

  private static void assertClosed(ThrowingCallable use) {
    assertThatThrownBy(use)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("this cache is closed");
  }

  @Test
  void anUnknownKindOfCacheIsRefused() {
    assertThat(CacheSpec.parse("fp16")).isEqualTo(CacheSpec.DEFAULT).hasToString("fp16");
    assertThatThrownBy(() -> CacheSpec.parse("fp24"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("'fp24' is unknown; did you mean 'fp16'?");
  }

  /** Appends random vectors, token by token and layer by layer. */
  private void fill(int tokens, long seed) {
    Random random = new Random(seed);
    cache.reserve(tokens);
    for (int position = 0; position < tokens; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, position, vector(random), 0, vector(random), 0);
      }
    }
    cache.advance(tokens);
  }

  private void assertHolds(int tokens, long seed) {
    Random random = new Random(seed);
    float[] out = new float[PAGE * SHAPE.headDim()];
    for (int position = 0; position < tokens; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        float[] keys = vector(random);
        float[] values = vector(random);
        for (int head = 0; head < SHAPE.kvHeads(); head++) {
          int onPage = position % PAGE;
          cache.view(layer, position / PAGE).expandKeys(kernels, head, onPage + 1, out);
          assertRow(out, onPage, keys, head, position);
          cache.view(layer, position / PAGE).expandValues(kernels, head, onPage + 1, out);
          assertRow(out, onPage, values, head, position);
        }
      }
    }
  }

  private static void assertRow(float[] page, int token, float[] expected, int head, int position) {
    for (int i = 0; i < SHAPE.headDim(); i++) {
      assertThat(page[token * SHAPE.headDim() + i])
          .as("seed %d, position %d, head %d, channel %d", SEED, position, head, i)
          .isEqualTo(half(expected[head * SHAPE.headDim() + i]));
    }
  }

  private static float[] vector(Random random) {
    float[] vector = new float[VECTOR];
    for (int i = 0; i < VECTOR; i++) {
      vector[i] = (float) random.nextGaussian();
    }
    return vector;
  }

  private static float half(float value) {
    return Float.float16ToFloat(Float.floatToFloat16(value));
  }
}

package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CommvqCacheTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 24);
  private static final int HEAD = SHAPE.headDim();
  private static final int BLOCK = KvCache.TOKENS_PER_PAGE;
  private static final Profile PROFILE = SyntheticCodebooks.profile(SHAPE, 1);

  private final Random random = new Random(3);
  private final ModelTables tables = new ModelTables();

  @AfterEach
  void close() {
    tables.close();
  }

  private CacheContext newContext(Rope rope) {
    return newContext(rope, PROFILE);
  }

  private CacheContext newContext(Rope rope, Profile profile) {
    return CacheContext.unknown()
        .withRotation(Optional.of(rope))
        .withProfile(Optional.of(profile))
        .withTables(Optional.of(tables));
  }

  /** For every pairing of rotary channels, with some channels not rotated. */
  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void cacheReturnsDecodedVectorsAtTheirPositions(RopeLayout layout) {
    Rope rope = new Rope(layout, RopeFrequencies.unscaled(10_000, HEAD * 2 / 3));
    assertDecodedVectorsAreReturned(rope, PROFILE);
  }

  @ParameterizedTest
  @CsvSource({"1, 64", "1, 32", "2, 32", "2, 16"})
  void groupsAndSmallSetsAreReadAsTheyAreWritten(int valueHeads, int rows) {
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, HEAD));
    assertDecodedVectorsAreReturned(rope, SyntheticCodebooks.grouped(SHAPE, valueHeads, rows, 1));
  }

  private void assertDecodedVectorsAreReturned(Rope rope, Profile profile) {
    float[] keys = gaussian(); // (kvHeads, tokens, headDim), before rotation
    float[] values = gaussian();
    try (KvCache cache =
        CacheSpec.parse("commvq:1,window=0,sinks=0").newCache(SHAPE, newContext(rope, profile))) {
      append(cache, rotated(keys, rope), values);
      List<LayerCodebooks> trained = CommvqProfile.of(profile, 1, SHAPE).layers();
      LayerCodebooks books =
          ModelCodebooks.of(trained, LayerRotations.ofAll(rope), Arena.ofAuto()).layers().get(1);
      float[] expectedKeys = rotated(decoded(books.keys(), keys), rope);
      HeadGroups groups = books.valueGroups();
      float[] joined = new float[values.length];
      groups.join(values, BLOCK, 0, BLOCK, joined);
      float[] expectedValues = new float[values.length];
      groups.split(decoded(books.values(), joined), BLOCK, expectedValues);
      float[] block = new float[BLOCK * HEAD];
      int second = cache.blockOf(BLOCK);
      for (int head = 0; head < SHAPE.kvHeads(); head++) {
        cache.view(1, second).expandKeys(new ScalarKernels(), head, BLOCK, block);
        assertSame(block, expectedKeys, head);
        cache.view(1, second).expandValues(new ScalarKernels(), head, BLOCK, block);
        assertSame(block, expectedValues, head);
      }
    }
  }

  private float[] gaussian() {
    float[] x = new float[SHAPE.kvHeads() * BLOCK * HEAD];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  /**
   * Converts from the order of pairs to the model's, rotated to the positions of the second block.
   */
  private static float[] rotated(float[] x, Rope rope) {
    float[] out = new float[x.length];
    for (int row = 0; row < x.length / HEAD; row++) {
      PairOrder.of(rope, HEAD).scatter(x, row * HEAD, out, row * HEAD);
      rope.rotate(out, row * HEAD, HEAD, 1, BLOCK + row % BLOCK);
    }
    return out;
  }

  private static float[] decoded(List<? extends Codebook> books, float[] x) {
    float[] out = x.clone();
    LayerEncoder encoder = new LayerEncoder(new ScalarKernels(), books, 4);
    short[] codes = new short[books.size() * BLOCK * books.getFirst().stages().stages()];
    short[] scales = new short[BLOCK];
    encoder.encode(out, BLOCK, codes, scales);
    encoder.decode(codes, scales, BLOCK, out);
    return out;
  }

  /** Appends a block of arbitrary vectors, then these, in both layers. */
  private static void append(KvCache cache, float[] keys, float[] values) {
    cache.reserve(2 * BLOCK);
    for (int position = 0; position < 2 * BLOCK; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, position, token(keys, position), 0, token(values, position), 0);
      }
    }
    cache.advance(2 * BLOCK);
  }

  private static float[] token(float[] x, int position) {
    float[] token = new float[SHAPE.kvHeads() * HEAD];
    for (int head = 0; head < SHAPE.kvHeads(); head++) {
      System.arraycopy(x, (head * BLOCK + position % BLOCK) * HEAD, token, head * HEAD, HEAD);
    }
    return token;
  }

  /** Tokens wait for their page as halves, so a few may get another code that is equally near. */
  private static void assertSame(float[] block, float[] all, int head) {
    int same = 0;
    for (int token = 0; token < BLOCK; token++) {
      boolean equal = true;
      for (int i = token * HEAD; i < (token + 1) * HEAD; i++) {
        equal &= Math.abs(block[i] - all[head * block.length + i]) < 2e-3f;
      }
      same += equal ? 1 : 0;
    }
    assertThat(same).isGreaterThan(BLOCK * 9 / 10);
  }

  @Test
  void sequencesShareTheCodebooks() {
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, HEAD));
    CacheSpec spec = CacheSpec.parse("commvq:1");
    long shared =
        List.of(spec, CacheSpec.parse("commvq:1,window=0")).stream()
            .map(
                each ->
                    each.configFor(SHAPE)
                        .cacheConfig(SHAPE, newContext(rope))
                        .codec()
                        .orElseThrow())
            .mapToLong(codec -> codec.sharedBytes())
            .distinct()
            .sum();
    // Keys of a head: bytes padded to 32 channels, units by pair and means; for the search floats,
    // and squared norms of the centers of two stages.
    long rows = 2 * 2 * 64;
    long keys = rows * 32 + 4 * (16 + 32) + 4 * (rows * 24 + 24 + 2 * 64 * 64);
    // Values of both heads: twice as many rows, twice as wide, as halves and as floats.
    long values = 2 * rows * 48 * 2 + 4 * 48 + 4 * (2 * rows * 48 + 48 + 4 * 64 * 64);
    assertThat(shared).isEqualTo(SHAPE.layers() * (SHAPE.kvHeads() * keys + values));
    assertThat(shared).as("estimated").isEqualTo(spec.sharedBytes(SHAPE, newContext(rope)));
    List<LayerCodebooks> trained = CommvqProfile.of(PROFILE, 1, SHAPE).layers();
    assertThat(shared)
        .as("made")
        .isEqualTo(ModelCodebooks.of(trained, LayerRotations.ofAll(rope), Arena.ofAuto()).bytes());
  }

  @Test
  void compactCodebooksAreCountedAndFreedWithTheModel() {
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, HEAD));
    long before = CountedArena.liveBytes();
    CacheContext context = newContext(rope);
    CacheSpec spec = CacheSpec.parse("commvq:1,window=0,sinks=0");
    spec.newCache(SHAPE, context).close();
    long rows = SHAPE.layers() * SHAPE.kvHeads() * 2L * 4 * 64 * HEAD * 2;
    assertThat(tables.bytes()).isEqualTo(rows);
    assertThat(CountedArena.liveBytes() - before).isEqualTo(rows);
    try (KvCache one = spec.newCache(SHAPE, context)) {
      assertThat(CountedArena.liveBytes() - before).as("once for all").isEqualTo(rows);
      append(one, gaussian(), gaussian());
      tables.close();
      float[] block = new float[BLOCK * HEAD];
      assertThatThrownBy(() -> one.view(1, 1).expandValues(new ScalarKernels(), 0, BLOCK, block))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> spec.newCache(SHAPE, context))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the model of this cache is closed");
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void missingPrerequisitesAreExplained() {
    CacheSpec spec = CacheSpec.parse("commvq:2");
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, HEAD));
    assertThatThrownBy(() -> spec.newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'commvq:2' must know how keys are rotated; it needs a model that rotates"
                + " them");
    assertThatThrownBy(() -> spec.newCache(SHAPE, newContext(rope)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'commvq:2' needs codebooks and profile holds none; train them with 'kvasir"
                + " calibrate --kv commvq:2 --model MODEL', or for the bundled model with --out FILE,"
                + " and give --profile FILE");
    CacheContext unowned = newContext(rope).withTables(Optional.empty());
    assertThatThrownBy(() -> CacheSpec.parse("commvq:1").newCache(SHAPE, unowned))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'commvq:1' has codebooks that sequences share; it needs a model that owns"
                + " them");
    assertThatThrownBy(() -> CacheSpec.parse("commvq:5")).isInstanceOf(InvalidInputException.class);
  }
}

package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages far behind the end are stored with fewer bits. */
class ColdBlocksTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 32);
  private static final CacheShape LOCAL =
      SHAPE.withWindows(new LayerWindows(List.of(200, LayerWindows.UNBOUNDED)));
  private static final CacheShape LATENT = new CacheShape(2, 1, 40, 32, ValueOrigin.IN_KEYS);
  private static final int TOKENS = 5 * 128 + 7;

  private final long before = CountedArena.liveBytes();

  @AfterEach
  void allMemoryComesBack() {
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static KvCache filled(String spec, CacheShape shape) {
    KvCache cache = CacheSpec.parse(spec).newCache(shape, CacheContext.unknown());
    Random random = new Random(3);
    float[] x = new float[shape.kvHeads() * shape.keyDim()];
    cache.reserve(TOKENS);
    for (int position = 0; position < TOKENS; position++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int i = 0; i < x.length; i++) {
          x[i] = (float) random.nextGaussian();
        }
        cache.append(layer, position, x, 0, x, 0);
      }
    }
    cache.advance(TOKENS);
    return cache;
  }

  private static KvCache restored(String spec, CacheShape shape, CacheSnapshot snapshot) {
    return CacheSpec.parse(spec).restore(shape, CacheContext.unknown(), snapshot);
  }

  private static float[] keys(KvCache cache, int block) {
    float[] keys = new float[128 * SHAPE.keyDim()];
    cache.view(1, block).expandKeys(new ScalarKernels(), 1, 128, keys);
    return keys;
  }

  private static double distance(float[] one, float[] other) {
    double sum = 0;
    for (int i = 0; i < one.length; i++) {
      sum += Math.pow(one[i] - other[i], 2);
    }
    return Math.sqrt(sum / one.length);
  }

  @Test
  void areSmallerAndOnlyThoseThatAsManyTokensFollow() {
    try (KvCache wide = filled("kivi:4,window=0", SHAPE);
        KvCache old = filled("kivi:4,window=0,cold=2@300", SHAPE)) {
      for (int i = 0; i < 5; i++) {
        int bytes = old.snapshot().block(i).length;
        if (i < 2) { // 391 and 263 tokens follow the second and the third
          assertThat(bytes).isLessThan(wide.snapshot().block(i).length * 7 / 10);
        } else {
          assertThat(old.snapshot().block(i)).isEqualTo(wide.snapshot().block(i));
        }
      }
      assertThat(old.bytes()).isEqualTo(wide.bytes());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"kivi:4,window=0", "kivi:8,k=8,sinks=4"})
  void areReadAgainAndStayAsTheyAre(String spec) {
    String kind = spec + ",cold=2@128";
    try (KvCache cache = filled(kind, SHAPE)) {
      CacheSnapshot snapshot = cache.snapshot();
      SnapshotBytes stored = SnapshotBytes.of(snapshot);
      try (KvCache again = restored(kind, SHAPE, stored)) {
        assertThat(SnapshotBytes.of(again.snapshot())).isEqualTo(stored);
        assertThat(again.bytes().total()).isLessThan(cache.bytes().total());
        double ofOld = distance(keys(cache, cache.blockOf(200)), keys(again, again.blockOf(200)));
        assertThat(ofOld).isBetween(0.01, 0.6);
        try (KvCache fork = again.fork()) {
          assertThat(SnapshotBytes.of(fork.snapshot())).isEqualTo(stored);
        }
      }
    }
  }

  @Test
  void areStoredWhereLayersHoldWindowsToo() {
    String kind = "kivi:4,window=0,cold=1@128";
    try (KvCache cache = filled(kind, LOCAL)) {
      SnapshotBytes stored = SnapshotBytes.of(cache.snapshot());
      try (KvCache again = restored(kind, LOCAL, stored)) {
        assertThat(SnapshotBytes.of(again.snapshot())).isEqualTo(stored);
        assertThat(again.bytes().total()).isLessThan(cache.bytes().total());
      }
    }
  }

  @Test
  void areStoredOfLatentsToo() {
    String kind = "kivi:4,window=0,cold=2@128";
    try (KvCache cache = filled(kind, LATENT)) {
      SnapshotBytes stored = SnapshotBytes.of(cache.snapshot());
      try (KvCache again = restored(kind, LATENT, stored)) {
        assertThat(SnapshotBytes.of(again.snapshot())).isEqualTo(stored);
        assertThat(again.bytes().total()).isLessThan(cache.bytes().total());
      }
    }
  }

  @Test
  void areRefusedByACacheThatHasNone() {
    try (KvCache cache = filled("kivi:4,window=0,cold=2@128", SHAPE)) {
      SnapshotBytes stored = SnapshotBytes.of(cache.snapshot());
      assertThatThrownBy(() -> restored("kivi:4,window=0", SHAPE, stored))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> restored("kivi:2,window=0", SHAPE, stored))
          .isInstanceOf(InvalidInputException.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:4,cold=2 | cold is '2'; expected bits and tokens, as in 2@4096",
        "kivi:4,cold=5@1 | bits is 5; possible are 1, 2, 3, 4, 8",
        "kivi:2,cold=4@1 | cold has pages of 9472 bytes; expected fewer than the 5376 that",
        "pmkvq:4,cold=2@1 | cold is for kinds that keep nothing of a sequence",
        "fp16,cold=2@1 | ",
      })
  void areRefusedWhereTheyMakeNoSense(String spec, String words) {
    assertThatThrownBy(() -> CacheSpec.parse(spec).bytesFor(SHAPE, 1024))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(words == null ? "" : words);
  }
}

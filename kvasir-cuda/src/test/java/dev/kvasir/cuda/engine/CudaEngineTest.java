package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.engine.Batch;
import dev.kvasir.model.DecoderEngine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The CUDA engine compared with the host's and with itself, on the bundled model. */
@NeedsDevice
class CudaEngineTest {
  private static final int TOKENS = 2000;

  private CudaEngine engine;

  @BeforeEach
  void open() {
    engine = BundledModel.device(CacheSpec.DEFAULT);
  }

  @AfterEach
  void closingFreesAllMemory() {
    if (engine != null) {
      assertThat(engine.memory().usedBytes()).as("bytes of pages that nobody holds").isZero();
      engine.close();
      assertThat(engine.bytes()).as("bytes that were not given back").isZero();
    }
  }

  private KvCache cache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), TOKENS + 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:4,group=32",
        "kivi:2,group=32",
        "kivi:2",
        "kivi:2,sinks=16",
        "kivi:3",
        "kivi:8,group=32",
        "kivi:1,group=32",
        "kivi:2,k=4,sinks=16",
        "patternkv:4,rope=static,sinks=16",
        "pmkvq:2,budget=3MiB,widths=same,sinks=16",
        "patternkv:2,rope=static,sinks=16",
        "patternkv:2,sinks=16",
        "patternkv:4",
        "mixkvq,high=4.208,mid=2.238"
      })
  void logitsMatchTheHostUpToRounding(String spec) throws IOException {
    checkDivergence(spec, 0, TOKENS, (with, cache) -> {});
  }

  /** A prompt step has 256 rows and is quantized at its end. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:4",
        "kivi:2",
        "kivi:2,group=32",
        "kivi:2,sinks=16",
        "kivi:3,sinks=16",
        "kivi:8,v=4",
        "kivi:4,v=1,group=32",
        "patternkv:4,rope=static,sinks=16",
        "patternkv:2,rope=static,sinks=16",
        "patternkv:2,sinks=16",
        "patternkv:2,v-patterns=off",
        "pmkvq:2,budget=3MiB,widths=same",
        "pmkvq:2,budget=2560KiB,widths=same,sinks=16",
        "mixkvq,high=4.208,mid=2.238",
        "mixkvq,high=4.208,mid=2.238,sinks=16"
      })
  void decodingAfterAPromptMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    checkDivergence(
        spec,
        900,
        400,
        (with, cache) -> {
          for (int from = 0; from < 900; from += 256) {
            logits(with, cache, Arrays.copyOfRange(prose, from, Math.min(900, from + 256)));
          }
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:4",
        "kivi:2",
        "kivi:2,sinks=16",
        "kivi:3,v=2",
        "patternkv:2,rope=static,sinks=16",
        "patternkv:4,sinks=16",
        "mixkvq,high=4.208,mid=2.238"
      })
  void decodingAfterTruncationMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    checkDivergence(
        spec,
        301,
        400,
        (with, cache) -> {
          logits(with, cache, Arrays.copyOf(prose, 700));
          cache.truncate(301); // in the middle of a packed block
          assertThat(cache.length()).isEqualTo(301);
        });
  }

  private void checkDivergence(
      String spec, int from, int count, BiConsumer<DecoderEngine, KvCache> past)
      throws IOException {
    new HostComparison(engine, Optional.empty()).checkDivergence(spec, from, count, past);
  }

  @Test
  void promptChunksShareAStepWithDecodeRows() throws IOException {
    int[] prose = BundledModel.prose();
    try (KvCache one = cache("kivi:2");
        KvCache other = cache("kivi:2");
        KvCache single = cache("kivi:2")) {
      Batch batch = new Batch();
      for (int i = 0; i < 600; i++) { // more rows than a step has
        batch.add(one, prose[i], false);
      }
      batch.add(single, prose[0], true);
      for (int i = 0; i < 40; i++) {
        batch.add(other, prose[i], i == 39);
      }
      engine.forward(batch);
      assertThat(List.of(one.length(), single.length(), other.length()))
          .containsExactly(600, 1, 40);
      try (KvCache alone = cache("kivi:2")) {
        float[] wanted = logits(engine, alone, Arrays.copyOf(prose, 40));
        int at = batch.logitsAt(1);
        float[] found = Arrays.copyOfRange(batch.logits(), at, at + wanted.length);
        assertThat(found).isEqualTo(wanted);
      }
    }
  }

  /** Both steps have 24 rows, five with logits, and two pages for each decode row. */
  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2"})
  void graphsDistinguishDecodeRowsFromChunkRows(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    List<KvCache> singles = new ArrayList<>();
    try {
      for (int i = 0; i < 5; i++) {
        singles.add(afterText(spec, prose, i));
      }
      stepWithChunk(spec, singles.subList(0, 4), prose, 20);
      stepWithChunk(spec, singles.subList(0, 4), prose, 20); // captured
      Batch last = stepWithChunk(spec, singles, prose, 19);
      for (int i = 0; i < 5; i++) {
        try (KvCache alone = afterText(spec, prose, i)) {
          float[] wanted = {};
          while (alone.length() < singles.get(i).length()) {
            wanted = logits(engine, alone, next(prose, i, alone));
          }
          int at = last.logitsAt(i);
          float[] found = Arrays.copyOfRange(last.logits(), at, at + wanted.length);
          assertThat(found).as("single %d", i).isEqualTo(wanted);
        }
      }
    } finally {
      singles.forEach(KvCache::close);
    }
  }

  /** Reads a hundred tokens from different offsets; with the next ones they take two pages. */
  private KvCache afterText(String spec, int[] prose, int number) {
    KvCache cache = cache(spec);
    logits(engine, cache, Arrays.copyOfRange(prose, 100 * number, 100 * number + 100));
    return cache;
  }

  private static int next(int[] prose, int number, KvCache cache) {
    return prose[100 * number + cache.length()];
  }

  /** The chunk has logits if there are four decode rows. */
  private Batch stepWithChunk(String spec, List<KvCache> singles, int[] prose, int rows) {
    try (KvCache run = cache(spec)) {
      Batch batch = new Batch();
      for (int i = 0; i < singles.size(); i++) {
        batch.add(singles.get(i), next(prose, i, singles.get(i)), true);
      }
      for (int i = 0; i < rows; i++) {
        batch.add(run, prose[1000 + i], singles.size() == 4 && i == rows - 1);
      }
      engine.forward(batch);
      return batch;
    }
  }

  @Test
  void argmaxIsTheLargestLogit() {
    try (KvCache one = cache("fp16");
        KvCache like = cache("fp16")) {
      float[] found = logits(engine, one, 5, 6, 7);
      Batch batch = new Batch();
      batch.add(like, 5, false);
      batch.add(like, 6, false);
      int index = batch.add(like, 7, true);
      batch.requestArgmaxOnly(index);
      engine.forward(batch);
      int best = 0;
      for (int i = 0; i < found.length; i++) {
        best = found[i] > found[best] ? i : best;
      }
      assertThat(batch.argmax(index)).isEqualTo(best);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:2,sinks=16",
        "patternkv:2,rope=static,sinks=16",
        "mixkvq,high=4.208,mid=2.238"
      })
  void forksMatchIndependentCaches(String spec) {
    int[] tokens = random(700);
    try (KvCache first = cache(spec);
        KvCache second = cache(spec)) {
      logits(engine, first, tokens);
      logits(engine, second, tokens);
      long alone = engine.memory().usedBytes();
      try (KvCache fork = first.fork()) {
        assertThat(fork.length()).isEqualTo(700);
        float[] ofFirst = logits(engine, first, 11);
        float[] ofFork = logits(engine, fork, 12);
        assertThat(engine.memory().usedBytes() - alone).isLessThan(first.bytes().total());
        assertThat(logits(engine, fork, 13)).isNotEqualTo(ofFork);
        assertThat(logits(engine, second, 11)).isEqualTo(ofFirst);
        second.truncate(700);
        assertThat(logits(engine, second, 12)).isEqualTo(ofFork);
      }
      assertThat(engine.memory().usedBytes()).isEqualTo(alone);
      assertThat(logits(engine, first, 13)).hasSize(engine.config().vocabulary());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:2,sinks=16",
        "patternkv:2,rope=static,sinks=16",
        "pmkvq:2,budget=4MiB",
        "mixkvq,high=4.208,mid=2.238"
      })
  void truncatedCachesTakeNoMemory(String spec) {
    try (KvCache cache = cache(spec)) {
      logits(engine, cache, random(700));
      cache.truncate(0);
      assertThat(cache.length()).isZero();
      assertThat(cache.bytes().total()).isZero();
      assertThat(engine.memory().usedBytes()).isZero();
    }
  }

  @Test
  void aTruncatedBlockKeepsItsDequantizedNumbers() {
    int[] tokens = random(700);
    try (KvCache cut = cache("kivi:2,group=32,window=0");
        KvCache whole = cache("kivi:2,group=32,window=0")) {
      logits(engine, cut, tokens);
      logits(engine, whole, Arrays.copyOf(tokens, 640));
      assertThat(((DeviceCache) whole).pages().packedTokens()).isEqualTo(640);
      cut.truncate(639); // in the middle of a block, which becomes fp16 again
      assertThat(((DeviceCache) cut).pages().packedTokens()).isEqualTo(512);
      whole.truncate(639);
      assertThat(logits(engine, cut, 3)).isEqualTo(logits(engine, whole, 3));
    }
  }

  @Test
  void cacheConfigurationsShareABatch() {
    try (KvCache halves = cache("fp16");
        KvCache packed = cache("kivi:2");
        KvCache alone = cache("kivi:2")) {
      Batch batch = new Batch();
      batch.add(halves, 5, true);
      int index = batch.add(packed, 6, true);
      engine.forward(batch);
      float[] found =
          Arrays.copyOfRange(
              batch.logits(),
              batch.logitsAt(index),
              batch.logitsAt(index) + engine.config().vocabulary());
      assertThat(found).isEqualTo(logits(engine, alone, 6));
    }
  }

  @Test
  void onlySequencesWithoutMemoryFail() {
    long page;
    try (KvCache one = cache("fp16")) {
      logits(engine, one, 1);
      page = one.bytes().total();
    }
    CudaEngine small = BundledModel.device(CacheSpec.DEFAULT, 3 * page);
    try (KvCache first = small.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS);
        KvCache second = small.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS)) {
      logits(small, first, random(64));
      logits(small, second, random(128));
      Batch batch = new Batch();
      batch.add(second, 1, true);
      int index = batch.add(first, 1, true);
      small.step(batch);
      RuntimeException refused =
          batch.failure(batch.cache(0)).or(() -> batch.failure(batch.cache(1))).orElseThrow();
      assertThat(refused)
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining("the cache cannot take 1 tokens after");
      assertThat(index).isOne();
      assertThat(first.length() + second.length()).isEqualTo(64 + 128);
      second.truncate(64);
      assertThat(logits(small, first, 1)).isNotEmpty();
    } finally {
      small.close();
    }
  }

  /** All channels are bf16, which takes five extents of 64 KiB for a block of the bundled model. */
  @Test
  void blocksStayFp16WithoutMemoryForWideChannels() {
    CacheSpec kind = CacheSpec.parse("mixkvq,high=0.000001,mid=0.000001,sinks=0,window=0");
    long unpacked;
    try (KvCache one = cache(kind.text())) {
      logits(engine, one, random(127));
      unpacked = one.bytes().total();
    }
    CudaEngine small = BundledModel.device(CacheSpec.DEFAULT, unpacked + (1 << 16));
    try (KvCache cache = small.newCache(kind, Optional.empty(), TOKENS)) {
      logits(small, cache, random(128));
      assertThat(((DeviceCache) cache).pages().packedPages()).isZero();
      assertThat(cache.bytes().total()).isEqualTo(unpacked).isEqualTo(small.memory().usedBytes());
      cache.truncate(100);
      assertThat(logits(small, cache, 1)).doesNotContain(Float.NaN);
    } finally {
      small.close();
    }
  }

  private int[] random(int count) {
    return new Random(3).ints(count, 0, engine.config().vocabulary()).toArray();
  }
}

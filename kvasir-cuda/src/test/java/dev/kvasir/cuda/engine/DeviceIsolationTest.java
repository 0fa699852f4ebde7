package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.engine.Batch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bits of a sequence on a device depend neither on other sequences nor on how its prompt is
 * divided into steps.
 */
@NeedsDevice
class DeviceIsolationTest {
  private static final int TOKENS = 2000;
  private static final int PROMPT = 700;
  private static final int GENERATED = 30;

  private CudaEngine engine;
  private int[] prose;

  @BeforeEach
  void open() throws IOException {
    prose = BundledModel.prose();
    engine = BundledModel.device(CacheSpec.DEFAULT);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private KvCache cache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), TOKENS);
  }

  /** Reads the prompt and returns the logits of its last token and of each one after it. */
  private List<float[]> alone(String spec) {
    List<float[]> all = new ArrayList<>();
    try (KvCache cache = cache(spec)) {
      all.add(logits(engine, cache, Arrays.copyOf(prose, PROMPT)));
      for (int i = 0; i < GENERATED; i++) {
        all.add(logits(engine, cache, prose[PROMPT + i]));
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:4,group=32,window=0",
        "kivi:3,v=2",
        "patternkv:2,rope=static,sinks=16",
        "pmkvq:2,budget=8MiB,widths=same",
        "mixkvq,high=4.208,mid=2.238"
      })
  void neighboursChangeNoBit(String spec) {
    List<float[]> wanted = alone(spec);
    List<KvCache> others = new ArrayList<>();
    try (KvCache cache = cache(spec)) {
      float[] first = logits(engine, cache, Arrays.copyOf(prose, PROMPT));
      assertThat(first).isEqualTo(wanted.get(0));
      for (int i = 0; i < GENERATED; i++) {
        Batch batch = new Batch();
        for (int n = 0; n < others.size(); n++) {
          batch.add(others.get(n), prose[50 * n + others.get(n).length()], true);
        }
        int index = batch.add(cache, prose[PROMPT + i], true);
        KvCache arriving = cache(spec); // a prompt of 1 to 262 tokens in every step
        others.add(arriving);
        for (int token = 0; token < 9 * i + 1; token++) {
          batch.add(arriving, prose[50 * (others.size() - 1) + token], token == 9 * i);
        }
        engine.forward(batch);
        int at = batch.logitsAt(index);
        assertThat(Arrays.copyOfRange(batch.logits(), at, at + first.length))
            .as("%s, token %d", spec, i)
            .isEqualTo(wanted.get(1 + i));
      }
    } finally {
      others.forEach(KvCache::close);
    }
  }

  /** A prompt that continues a shared prefix has fewer rows, at other places of a tile. */
  @ParameterizedTest
  @ValueSource(ints = {699, 690, 640, 333, 64, 1})
  void prefixHitsChangeNoBit(int hit) {
    List<float[]> wanted = alone("fp16");
    try (KvCache source = cache("fp16")) {
      logits(engine, source, Arrays.copyOf(prose, hit + 1));
      source.truncate(hit);
      try (KvCache cache = source.fork()) {
        Batch batch = new Batch();
        batch.beginChunk(cache, hit, PROMPT);
        for (int i = hit; i < PROMPT; i++) {
          batch.add(cache, prose[i], i == PROMPT - 1);
        }
        engine.forward(batch);
        float[] found = Arrays.copyOf(batch.logits(), engine.config().vocabulary());
        assertThat(found).isEqualTo(wanted.get(0));
        assertThat(logits(engine, cache, prose[PROMPT])).isEqualTo(wanted.get(1));
      }
    }
  }

  /** Blocks are quantized at the end of a step, whose chunks may have any number of rows. */
  @ParameterizedTest
  @ValueSource(ints = {1, 17, 100})
  void chunksOfAStepChangeNoBit(int rows) {
    float[] wanted = inChunks(256);
    assertThat(inChunks(rows)).isEqualTo(wanted);
  }

  private float[] inChunks(int rows) {
    try (KvCache cache = cache("kivi:2,window=0")) {
      for (int step = 0; step < 512; step += 256) {
        while (cache.length() < step + 256) {
          Batch batch = new Batch();
          batch.beginChunk(cache, step, step + 256);
          int end = Math.min(cache.length() + rows, step + 256);
          for (int i = cache.length(); i < end; i++) {
            batch.add(cache, prose[i], false);
          }
          engine.forward(batch);
        }
      }
      return logits(engine, cache, prose[512]);
    }
  }
}

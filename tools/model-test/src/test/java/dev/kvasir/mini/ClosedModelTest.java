package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.LoadedModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resources that a model shares among its sequences are freed with it. */
class ClosedModelTest {
  private static final CacheSpec COMMVQ = CacheSpec.parse("commvq:1,window=0,sinks=0");

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "patternkv:2", "mixkvq", "pmkvq:2", "commvq:1"})
  void closingFreesWhateverItsCachesShared(String spec) {
    long bytes = CountedArena.liveBytes();
    long arenas = CountedArena.liveArenas();
    LoadedModel model = LoadedModel.bundled();
    model.newCache(CacheSpec.parse(spec)).close();
    model.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytes);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenas);
  }

  @Test
  void codebooksAreCountedOnceForAllSequences() {
    try (LoadedModel model = LoadedModel.bundled()) {
      long before = CountedArena.liveBytes();
      model.newCache(COMMVQ).close();
      long shared = CountedArena.liveBytes() - before;
      assertThat(shared).isPositive();
      model.newCache(COMMVQ).close();
      assertThat(CountedArena.liveBytes() - before).isEqualTo(shared);
    }
  }

  @Test
  void aCacheThatOutlivesItsModelRefusesToReadCodebooks() {
    LoadedModel model = LoadedModel.bundled();
    ModelConfig config = model.config();
    try (KvCache cache = model.newCache(COMMVQ)) {
      float[] vector = new float[config.kvHeads() * config.headDim()];
      cache.reserve(128);
      for (int position = 0; position < 128; position++) {
        for (int layer = 0; layer < config.layers(); layer++) {
          cache.append(layer, position, vector, 0, vector, 0);
        }
      }
      cache.advance(128);
      float[] block = new float[128 * config.headDim()];
      cache.view(0, 0).expandValues(new ScalarKernels(), 0, 128, block);
      model.close();
      // Not the layer that was decoded last.
      assertThatThrownBy(() -> cache.view(1, 0).expandValues(new ScalarKernels(), 0, 128, block))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> model.newCache(COMMVQ))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("this model is closed");
    }
  }
}

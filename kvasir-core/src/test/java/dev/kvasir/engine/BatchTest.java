package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.KvCache;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class BatchTest {
  /** Returns a cache of three tokens, of which a batch needs the length only. */
  private static KvCache cache() {
    return (KvCache)
        Proxy.newProxyInstance(
            BatchTest.class.getClassLoader(),
            new Class<?>[] {KvCache.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "length" -> 3;
                  case "equals" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  @Test
  void promptsAreChunksOrHaveSeveralRows() {
    Batch batch = new Batch();
    batch.add(cache(), 1, true);
    KvCache chunked = cache();
    batch.beginChunk(chunked, 0, 4);
    batch.add(chunked, 1, true);
    KvCache several = cache();
    batch.add(several, 1, false);
    batch.add(several, 2, true);
    assertThat(batch.sequences()).isEqualTo(3);
    assertThat(batch.isPrefill(0)).as("a generated token").isFalse();
    assertThat(batch.isPrefill(1)).as("the last token of a prompt").isTrue();
    assertThat(batch.isPrefill(2)).isTrue();
    assertThat(batch.stepBegin(0)).isEqualTo(3);
    assertThat(batch.stepEnd(0)).isEqualTo(4);
  }
}

package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.engine.Batch;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A decode step on a device leaves next to no garbage on the Java heap. */
@NeedsDevice
class DecodeAllocationTest {
  private static final int PROMPT = 900;
  private static final int TOKENS = 400;

  /** Includes new pages, blocks that are quantized and the launches of new graphs. */
  private static final long MAX_BYTES = 64;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:3,v=2"})
  void stepsAllocateLittle(String text) throws IOException {
    CacheSpec spec = CacheSpec.parse(text);
    int[] prose = BundledModel.prose();
    try (CudaEngine engine = BundledModel.device(spec)) {
      Batch batch = new Batch();
      bytesOfSteps(engine, spec, batch, prose); // compiles
      assertThat(bytesOfSteps(engine, spec, batch, prose) / TOKENS).isLessThan(MAX_BYTES);
    }
  }

  private static long bytesOfSteps(CudaEngine engine, CacheSpec spec, Batch batch, int[] prose) {
    try (KvCache cache = engine.newCache(spec, Optional.empty(), PROMPT + TOKENS + 1)) {
      BundledModel.logits(engine, cache, Arrays.copyOf(prose, PROMPT));
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < TOKENS; i++) {
        batch.clear();
        int index = batch.add(cache, prose[PROMPT + i], true);
        batch.requestArgmaxOnly(index);
        engine.forward(batch);
      }
      return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
  }
}

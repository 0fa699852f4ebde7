package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommvqCodecTest {
  private static final CacheShape SHAPE = new CacheShape(1, 3, 24);
  private static final int VECTORS = SHAPE.kvHeads() * Page.TOKENS * SHAPE.headDim();
  private static final Profile PROFILE = SyntheticCodebooks.profile(SHAPE, 1, 2);

  private final Random random = new Random(11);
  private final float[] keys = gaussian();
  private final float[] values = gaussian();
  private final ModelTables tables = new ModelTables();

  @AfterEach
  void close() {
    tables.close();
  }

  /**
   * Each thread waits at its first product for all others, so the test would hang if one had no
   * task.
   */
  @Test
  void allWorkersSearch() {
    int threads = 5;
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    CountDownLatch all = new CountDownLatch(threads);
    Kernels scalar = new ScalarKernels();
    Kernels waiting =
        (Kernels)
            Proxy.newProxyInstance(
                Kernels.class.getClassLoader(),
                new Class<?>[] {Kernels.class},
                (proxy, method, arguments) -> {
                  if (seen.add(Thread.currentThread())) {
                    all.countDown();
                    all.await(10, TimeUnit.SECONDS);
                  }
                  return method.invoke(scalar, arguments);
                });
    try (WorkerPool workers = new WorkerPool(threads)) {
      quantized("commvq:1", waiting, workers);
    }
    assertThat(seen).hasSize(threads);
  }

  @Test
  void codesAreTheSameHoweverManyThreadsSearch() {
    for (String spec : new String[] {"commvq:1", "commvq:2,beam=1", "commvq:2,values=encoder"}) {
      float[] alone = quantized(spec, new ScalarKernels(), new WorkerPool(1));
      for (int threads : new int[] {2, 7, 40}) {
        try (WorkerPool workers = new WorkerPool(threads)) {
          assertThat(quantized(spec, new ScalarKernels(), workers))
              .as("%s, %d threads", spec, threads)
              .isEqualTo(alone);
        }
      }
    }
  }

  /** Returns the dequantized keys and values of all heads of a page. */
  private float[] quantized(String spec, Kernels kernels, WorkerPool workers) {
    CacheContext context =
        CacheContext.unknown()
            .withRotation(
                Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(100, 20))))
            .withProfile(Optional.of(PROFILE))
            .withTables(Optional.of(tables))
            .withKernels(kernels)
            .withWorkers(workers);
    PageWorkspace workspace = new PageWorkspace(new ScalarKernels());
    float[] found = new float[2 * VECTORS];
    int head = Page.TOKENS * SHAPE.headDim();
    float[] out = new float[head];
    try (SequenceCodec codec =
            CommvqConfig.of(new SpecText(spec))
                .cacheConfig(SHAPE, context)
                .codec()
                .orElseThrow()
                .newSequence();
        Page page = codec.quantize(0, 384, keys.clone(), values.clone())) {
      for (int kvHead = 0; kvHead < SHAPE.kvHeads(); kvHead++) {
        page.dequantizeKeys(workspace, kvHead, Page.TOKENS, out);
        System.arraycopy(out, 0, found, kvHead * head, head);
        page.dequantizeValues(workspace, kvHead, Page.TOKENS, out);
        System.arraycopy(out, 0, found, VECTORS + kvHead * head, head);
      }
    }
    return found;
  }

  private float[] gaussian() {
    float[] x = new float[VECTORS];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}

package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.divergence;
import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BiConsumer;

/** The divergence between logits of the bundled model on a device and on the host. */
record HostComparison(CudaEngine engine, Optional<Profile> profile) {
  private static final int TOKENS = 2000;

  /**
   * Activations are rounded to bytes before products, so the smallest difference becomes visible.
   * Its size is measured by the host itself on the same text, with a first norm that differs by
   * half a unit of a half.
   */
  void checkDivergence(String spec, int from, int count, BiConsumer<DecoderEngine, KvCache> past)
      throws IOException {
    CacheSpec kind = CacheSpec.parse(spec);
    try (WorkerPool workers =
            new WorkerPool(Math.min(8, Runtime.getRuntime().availableProcessors()));
        HostEngine host = BundledModel.host(workers, false);
        HostEngine nudged = BundledModel.host(workers, true);
        KvCache cache = host.newCache(kind, profile, TOKENS + 1);
        KvCache nudgedCache = nudged.newCache(kind, profile, TOKENS + 1);
        KvCache ours = engine.newCache(kind, profile, TOKENS + 1)) {
      past.accept(host, cache);
      past.accept(nudged, nudgedCache);
      past.accept(engine, ours);
      double mean = 0;
      double most = 0;
      double floor = 0;
      for (int token : Arrays.copyOfRange(BundledModel.prose(), from, from + count)) {
        float[] wanted = logits(host, cache, token);
        double each = divergence(wanted, logits(engine, ours, token));
        mean += each / count;
        most = Math.max(most, each);
        floor += divergence(wanted, logits(nudged, nudgedCache, token)) / count;
      }
      System.out.printf(
          "%s from %d: KL %.2e in the mean, %.2e at the most; the host with itself %.2e%n",
          spec, from, mean, most, floor);
      assertThat(mean).isLessThan(2 * floor);
    }
  }
}

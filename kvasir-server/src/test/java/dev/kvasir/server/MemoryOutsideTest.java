package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.memory.CountedArena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Memory of a server outside the heap: the weights, the budget, and nothing that grows. */
class MemoryOutsideTest {
  private static final long BUDGET = 3 << 20;
  private static final List<CacheSpec> SPECS =
      List.of(CacheSpec.parse("kivi:2"), CacheSpec.parse("fp16"));
  private static final int CLIENTS = 6;
  private static final int REQUESTS = 2; // one per cache spec

  @Test
  void concurrentClientsTakeNoMoreThanTheBudgetAndTheWeights() throws Exception {
    try (TestServer server = TestServer.start(BUDGET, options -> options.withCacheSpecs(SPECS))) {
      server.complete(body(0, SPECS.getFirst()));
      server.bytesWhenQuiet();
      long arenas = CountedArena.liveArenas();
      long weights = CountedArena.liveBytes();
      CountedArena.resetPeakBytes();
      runClients(server);
      assertThat(CountedArena.peakBytes() - weights).isPositive().isLessThanOrEqualTo(BUDGET);
      assertThat(server.bytesWhenQuiet()).isZero();
      assertThat(CountedArena.liveBytes()).isEqualTo(weights);
      assertThat(CountedArena.liveArenas()).isEqualTo(arenas);
    }
  }

  private static void runClients(TestServer server) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        clients.add(
            threads.submit(
                () -> {
                  for (int turn = 0; turn < REQUESTS; turn++) {
                    CacheSpec spec = SPECS.get((client + turn) % 2);
                    server.complete(body(client * REQUESTS + turn, spec));
                  }
                  return null;
                }));
      }
      for (Future<?> client : clients) {
        client.get();
      }
    }
  }

  private static String body(int number, CacheSpec spec) {
    return """
        {"prompt": "%s", "max_tokens": 12, "kv": "%s"}"""
        .formatted("Story %d. ".formatted(number).repeat(20 + 20 * number), spec);
  }
}

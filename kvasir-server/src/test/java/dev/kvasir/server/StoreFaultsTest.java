package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.prefix.StoredPrefixes;
import dev.kvasir.store.tier.BlobTier;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The guarantees for misbehaving clients also hold with a store. */
@Timeout(120)
class StoreFaultsTest {
  private static final String PARAGRAPH = "The old man looked at the sea, and the sea was calm. ";

  @TempDir private Path folder;

  private TestServer start(long memory, String kind) {
    return TestServer.start(
        memory,
        options ->
            options
                .withCacheSpecs(List.of(CacheSpec.parse(kind)))
                .withStores(List.of(StoreAddress.parse(folder.toString()))));
  }

  @Test
  void disconnectsLeaveNothingBehind() throws Exception {
    try (TestServer server = start(64 << 20, "kivi:2")) {
      long before = server.bytesWhenQuiet();
      Random random = new Random(1);
      for (int i = 0; i < 15; i++) {
        String body =
            "{\"prompt\": \"%s\", \"max_tokens\": 4000, \"stream\": true}"
                .formatted(PARAGRAPH.repeat(1 + random.nextInt(40)));
        String head =
            "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n";
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
          String request = head.formatted(body.length()) + body;
          socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
          socket.getInputStream().readNBytes(random.nextInt(600));
        }
      }
      // Pending writes retain their memory.
      while (server.bytesWhenQuiet() != before) {
        Thread.sleep(20);
      }
      assertThat(server.log()).doesNotContain("failed", "cannot");
    }
  }

  /**
   * Memory for two of these; cached prefixes, pending writes and fetched blocks must be evicted.
   */
  private List<JsonObject> askSix(TestServer server) throws Exception {
    List<Future<JsonObject>> responses = new ArrayList<>();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 6; i++) {
        String body =
            "{\"prompt\": \"%d %s\", \"max_tokens\": 16, \"temperature\": 0}"
                .formatted(i % 3, PARAGRAPH.repeat(22));
        responses.add(clients.submit(() -> server.ask("/v1/completions", body)));
      }
    }
    List<JsonObject> answers = new ArrayList<>();
    for (Future<JsonObject> one : responses) {
      answers.add(one.get());
    }
    assertThat(answers)
        .allMatch(one -> one.getAsJsonObject("usage").get("completion_tokens").getAsInt() == 16);
    assertThat(server.model().cacheMemory().peakBytes())
        .isLessThanOrEqualTo(server.model().cacheMemory().limit());
    assertThat(server.send(server.to("/metrics").build()).body())
        .contains("kvasir_answers_cut_short_total 0");
    assertThat(server.log()).doesNotContain("failed", "cannot");
    return answers;
  }

  private static List<String> texts(List<JsonObject> answers) {
    return answers.stream().map(one -> one.getAsJsonArray("choices").get(0).toString()).toList();
  }

  @Test
  void reservedMemoryIsAvailableToTheEnd() throws Exception {
    List<String> first;
    try (TestServer server = start(2 << 20, "fp16")) {
      first = texts(askSix(server));
    }
    try (TestServer server = start(2 << 20, "fp16")) {
      assertThat(texts(askSix(server))).isEqualTo(first);
      assertThat(server.get("/kvasir/state").getAsJsonObject("store").get("hits").getAsInt())
          .isPositive();
    }
  }

  /** Returns a tier whose writes never finish. */
  private static BlobTier stuck(Semaphore never) {
    return (BlobTier)
        Proxy.newProxyInstance(
            BlobTier.class.getClassLoader(),
            new Class<?>[] {BlobTier.class},
            (any, method, arguments) ->
                switch (method.getName()) {
                  case "write" -> never.tryAcquire(1, TimeUnit.MINUTES);
                  case "name" -> "stuck";
                  case "type" -> BlobTier.TierType.DISK;
                  case "read" -> Map.of();
                  case "has" -> Set.of();
                  case "initialBytesPerSecond" -> 1e6;
                  case "defaultReadTimeout" -> Duration.ofSeconds(1);
                  case "failures" -> 0L;
                  default -> null;
                });
  }

  @Test
  void pendingWritesAreDroppedWhenMemoryIsNeeded() {
    Semaphore never = new Semaphore(0);
    try (LoadedModel model =
            LoadedModel.bundled(EngineOptions.defaults().withCacheBytes(32 << 20));
        TieredStore store = new TieredStore(List.of(stuck(never)), 1);
        StoredPrefixes stored = new StoredPrefixes(model, store)) {
      model.prefixes().setRemote(stored);
      int[] text = model.tokenizer().encode(PARAGRAPH.repeat(60));
      GenerationSettings one = GenerationSettings.defaults().withMaxTokens(1);
      try (ModelSession session = model.newSession(SessionOptions.defaults(), text, "somebody")) {
        session.generate(new int[0], one, piece -> {});
      }
      model.prefixes().clear();
      MemoryPool pool = model.cacheMemory();
      assertThat(pool.tryAcquire(pool.limit())).isTrue();
      pool.release(pool.limit());
      assertThat(stored.counts().dropped()).isPositive();
      never.release(1000);
    }
  }
}

package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Misbehaving clients: others are served, and all memory is released. */
class FaultsTest {
  private static final String PARAGRAPH = "The old man looked at the sea, and the sea was calm. ";

  private static String endless(String prompt) {
    return "{\"prompt\": \"%s\", \"max_tokens\": 4000, \"stream\": true}".formatted(prompt);
  }

  private static Socket open(TestServer server, String body) throws IOException {
    Socket socket = new Socket("127.0.0.1", server.port());
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
            .formatted(bytes.length);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return socket;
  }

  @Test
  void manyDisconnectsLeaveNothingBehind() throws Exception {
    try (TestServer server = TestServer.start()) {
      long before = server.bytesWhenQuiet();
      Random random = new Random(1);
      for (int i = 0; i < 20; i++) {
        String prompt = PARAGRAPH.repeat(1 + random.nextInt(20));
        boolean streams = random.nextBoolean();
        String body = streams ? endless(prompt) : endless(prompt).replace("true", "false");
        try (Socket socket = open(server, body)) {
          if (streams && random.nextBoolean()) {
            socket.getInputStream().readNBytes(random.nextInt(600));
          }
        }
      }
      assertThat(server.complete("{\"prompt\": \"Still\", \"max_tokens\": 3}")).isNotEmpty();
      assertThat(server.bytesWhenQuiet()).isEqualTo(before);
      assertThat(server.log()).isEmpty();
    }
  }

  @Test
  void aSlowReaderDelaysNobody() throws Exception {
    try (TestServer server = TestServer.start()) {
      long before = server.bytesWhenQuiet();
      List<Socket> slow = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        slow.add(open(server, endless("Slow").replace("4000", "300")));
      }
      for (int i = 0; i < 10; i++) {
        assertThat(server.complete("{\"prompt\": \"Fast\", \"max_tokens\": 3}")).isNotEmpty();
      }
      assertThat(server.bytesWhenQuiet()).isEqualTo(before);
      for (Socket socket : slow) {
        // The whole text was buffered for the slow reader.
        String text = new String(read(socket), StandardCharsets.UTF_8);
        assertThat(text).contains("[DONE]");
        socket.close();
      }
    }
  }

  private static byte[] read(Socket socket) throws IOException {
    var out = new java.io.ByteArrayOutputStream();
    byte[] buffer = new byte[4096];
    while (!out.toString(StandardCharsets.UTF_8).contains("[DONE]")) {
      int count = socket.getInputStream().read(buffer);
      if (count < 0) {
        break;
      }
      out.write(buffer, 0, count);
    }
    return out.toByteArray();
  }

  @Test
  void damagedRequestsAreRefusedAndNothingElseHappens() throws Exception {
    try (TestServer server = TestServer.start()) {
      long before = server.bytesWhenQuiet();
      String good =
          "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 2, \"n\": 1,"
              + " \"stop\": [\"x\"], \"tools\": [{\"type\": \"function\", \"function\": {\"name\":"
              + " \"f\"}}], \"stream_options\": {\"include_usage\": true}}";
      Random random = new Random(2);
      for (int i = 0; i < 100; i++) {
        byte[] bytes = good.getBytes(StandardCharsets.UTF_8);
        for (int change = 0; change <= random.nextInt(4); change++) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        HttpResponse<String> response =
            server.send(
                server
                    .to("/v1/chat/completions")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(bytes))
                    .build());
        assertThat(response.statusCode()).isIn(200, 400);
      }
      assertThat(server.bytesWhenQuiet()).isEqualTo(before);
      assertThat(server.log()).isEmpty();
    }
  }

  @Test
  void tooLargeRequestsAreRefused() throws Exception {
    try (TestServer server =
        TestServer.start(64 << 20, options -> options.withLimits(100_000, Duration.ofMinutes(1)))) {
      long before = server.bytesWhenQuiet();
      HttpResponse<String> body =
          server.post("/v1/completions", "{\"prompt\": \"" + "a".repeat(200_000) + "\"}");
      assertThat(body.statusCode()).isEqualTo(413);
      String ids = "5,".repeat(17_000) + "5";
      HttpResponse<String> prompt =
          server.post("/v1/completions", "{\"prompt\": [%s]}".formatted(ids));
      assertThat(prompt.statusCode()).isEqualTo(400);
      assertThat(prompt.body())
          .contains("the prompt has 17001 tokens; the context has room for 16383 and one")
          .contains("context_length_exceeded");
      assertThat(server.bytesWhenQuiet()).isEqualTo(before);
    }
  }

  @Test
  void aPromptLargerThanTheBudgetIsRefusedAtOnce() throws Exception {
    List<CacheSpec> kinds = List.of(CacheSpec.DEFAULT);
    try (TestServer server = TestServer.start(8 << 20, options -> options.withCacheSpecs(kinds))) {
      String body = "{\"prompt\": \"%s\", \"max_tokens\": 9000, \"kv\": \"fp16\"}";
      HttpResponse<String> response =
          server.post("/v1/completions", body.formatted(PARAGRAPH.repeat(100)));
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(response.body()).contains("bytes of cache; the server has 8388608");
    }
  }

  @Test
  void requestsThatDoNotFitAreQueuedAndTooManyAreRejected() throws Exception {
    try (TestServer server =
        TestServer.start(256 << 20, options -> options.withConcurrency(2, 3))) {
      List<Socket> running = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        running.add(open(server, endless("Long")));
      }
      while (server.get("/kvasir/state").get("running").getAsInt() < 2) {
        Thread.sleep(10);
      }
      List<Future<String>> waiting = new ArrayList<>();
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        String small = "{\"prompt\": \"Wait\", \"max_tokens\": 3, \"temperature\": 0}";
        for (int i = 0; i < 3; i++) {
          waiting.add(clients.submit(() -> server.complete(small)));
        }
        while (server.get("/kvasir/state").get("queued").getAsInt() < 3) {
          Thread.sleep(10);
        }
        HttpResponse<String> refused = server.post("/v1/completions", small);
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(refused.body()).contains("3 requests are waiting, which is the most");
        for (Socket socket : running) {
          socket.close();
        }
      }
      for (Future<String> text : waiting) {
        assertThat(text.get()).isNotEmpty();
      }
      assertThat(server.bytesWhenQuiet()).isZero();
    }
  }

  @Test
  void reservedMemoryIsAvailableToTheEnd() throws Exception {
    // Memory for three of these; cached prefixes must be evicted.
    List<CacheSpec> kinds = List.of(CacheSpec.parse("fp16"));
    try (TestServer server =
        TestServer.start(1536 << 10, options -> options.withCacheSpecs(kinds))) {
      List<Future<JsonObject>> answers = new ArrayList<>();
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < 8; i++) {
          String body =
              "{\"prompt\": \"%d %s\", \"max_tokens\": 150, \"kv\": \"fp16\", \"temperature\": 0}"
                  .formatted(i, PARAGRAPH.repeat(22));
          answers.add(clients.submit(() -> server.ask("/v1/completions", body)));
        }
      }
      for (Future<JsonObject> answer : answers) {
        assertThat(answer.get().getAsJsonObject("usage").get("completion_tokens").getAsInt())
            .isEqualTo(150);
      }
      assertThat(server.model().cacheMemory().peakBytes())
          .isLessThanOrEqualTo(server.model().cacheMemory().limit());
      assertThat(server.model().prefixes().stats().evictions()).isPositive();
    }
  }

  @Test
  void aFullCacheEndsACompletion() throws Exception {
    // Two blocks of 16-bit tokens take 256 KiB. Without both, none is ever quantized.
    List<CacheSpec> kinds = List.of(CacheSpec.parse("pmkvq:2,budget=384KiB"));
    try (TestServer server = TestServer.start(64 << 20, options -> options.withCacheSpecs(kinds))) {
      long before = server.bytesWhenQuiet();
      // Repeated at temperature 0, so that no completion ends early.
      String body =
          "{\"prompt\": \"%s\", \"max_tokens\": 16000, \"temperature\": 0}"
              .formatted("One, two, ".repeat(5));
      JsonObject answer = server.ask("/v1/completions", body);
      JsonObject choice = answer.getAsJsonArray("choices").get(0).getAsJsonObject();
      assertThat(choice.get("finish_reason").getAsString()).isEqualTo("length");
      assertThat(answer.getAsJsonObject("usage").get("completion_tokens").getAsInt())
          .isBetween(500, 15_000);
      assertThat(server.send(server.to("/metrics").build()).body())
          .contains("kvasir_answers_cut_short_total 1");
      assertThat(server.bytesWhenQuiet()).isEqualTo(before);
    }
  }

  @Test
  void closingEndsAllStreamsWithAReason() throws Exception {
    try (TestServer server = TestServer.start()) {
      List<Future<String>> streams = new ArrayList<>();
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < 6; i++) {
          streams.add(clients.submit(() -> server.post("/v1/completions", endless("Stop")).body()));
        }
        while (server.get("/kvasir/state").get("running").getAsInt() < 6) {
          Thread.sleep(10);
        }
        server.server().close();
      }
      for (Future<String> stream : streams) {
        assertThat(stream.get()).contains("\"message\":\"the server is shutting down\"");
      }
      server.model().prefixes().clear();
      assertThat(server.model().cacheMemory().usedBytes()).isZero();
    }
  }

  @Test
  void aCompletionThatTakesTooLongTimesOut() throws Exception {
    try (TestServer server =
        TestServer.start(
            64 << 20, options -> options.withLimits(1 << 20, Duration.ofMillis(300)))) {
      assertThat(server.post("/v1/completions", endless("Long")).body())
          .contains("\"code\":\"timeout\"");
      assertThat(server.bytesWhenQuiet()).isZero();
    }
  }

  @Test
  void keysAndOriginsAreChecked() throws Exception {
    AccessRules access = AccessRules.of(List.of("secret-key"), Set.of("https://example.org"));
    try (TestServer server = TestServer.start(64 << 20, options -> options.withAccess(access))) {
      assertThat(server.send(server.to("/v1/models").build()).statusCode()).isEqualTo(401);
      assertThat(status(server, "Authorization", "Bearer secret-kez")).isEqualTo(401);
      assertThat(status(server, "Authorization", "Bearer secret-key")).isEqualTo(200);
      assertThat(status(server, "Origin", "https://elsewhere.org")).isEqualTo(403);
      assertThat(server.send(server.to("/health").build()).statusCode()).isEqualTo(200);
      HttpRequest preflight =
          server
              .to("/v1/models")
              .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
              .header("Origin", "https://example.org")
              .build();
      assertThat(server.send(preflight).headers().firstValue("Access-Control-Allow-Origin"))
          .hasValue("https://example.org");
    }
  }

  private static int status(TestServer server, String name, String value) throws Exception {
    return server.send(server.to("/v1/models").header(name, value).build()).statusCode();
  }

  @Test
  void memoryThatHoldsNoSequenceIsRefusedAtTheStart() {
    ServerLog log = new ServerLog(new PrintStream(OutputStream.nullOutputStream()));
    ServerOptions options = ServerOptions.defaults().withAddress("127.0.0.1", 0);
    try (LoadedModel model =
        LoadedModel.bundled(EngineOptions.defaults().withCacheBytes(1 << 10))) {
      assertThatThrownBy(() -> KvasirServer.start(model, options, log))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("1024 bytes for sequences; the shortest one with 'fp16' takes");
    }
  }
}

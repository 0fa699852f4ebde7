package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.store.StoreAddress;
import java.net.ServerSocket;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers with a shared store continue each other's conversations, with unchanged output. */
@Timeout(120)
class StoreTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final List<CacheSpec> KINDS = List.of(CacheSpec.parse("kivi:2"));
  private static final String QUESTION =
      "The old man looked at the sea, and the sea was calm. ".repeat(26);
  private static final String FIRST = body(turn("user", QUESTION));

  /** The responses of a server without a store. */
  private static String secondTurn;

  private static String answer;
  private static String secondAnswer;

  @TempDir private Path folder;

  @BeforeAll
  static void askOneAlone() throws Exception {
    try (TestServer alone = TestServer.start()) {
      answer = content(alone.ask(CHAT, FIRST));
      secondTurn =
          body(turn("user", QUESTION), turn("assistant", answer), turn("user", "And then?"));
      secondAnswer = content(alone.ask(CHAT, secondTurn));
    }
  }

  @AfterAll
  static void forgetAnswers() {
    answer = secondAnswer = secondTurn = null;
  }

  private static JsonObject turn(String role, String content) {
    JsonObject turn = new JsonObject();
    turn.addProperty("role", role);
    turn.addProperty("content", content);
    return turn;
  }

  private static String body(JsonObject... turns) {
    JsonArray messages = new JsonArray();
    Stream.of(turns).forEach(messages::add);
    JsonObject body = new JsonObject();
    body.add("messages", messages);
    body.addProperty("temperature", 0);
    body.addProperty("max_tokens", 12);
    body.addProperty("prompt_cache_key", "a conversation");
    return body.toString();
  }

  private static TestServer start(String... addresses) {
    List<StoreAddress> stores = Stream.of(addresses).map(StoreAddress::parse).toList();
    return TestServer.start(64 << 20, options -> options.withCacheSpecs(KINDS).withStores(stores));
  }

  private static String content(JsonObject answer) {
    return answer
        .getAsJsonArray("choices")
        .get(0)
        .getAsJsonObject()
        .getAsJsonObject("message")
        .get("content")
        .getAsString();
  }

  private static int cachedTokens(JsonObject answer) {
    return answer
        .getAsJsonObject("usage")
        .getAsJsonObject("prompt_tokens_details")
        .get("cached_tokens")
        .getAsInt();
  }

  private static String tier(JsonObject answer) {
    return answer.getAsJsonObject("timings").get("cache_place").getAsString();
  }

  private static void awaitStored(TestServer server, int prefixes) throws Exception {
    while (server.get("/kvasir/state").getAsJsonObject("store").get("kept").getAsInt() < prefixes) {
      Thread.sleep(10);
    }
    assertThat(server.server().store().orElseThrow().flush(Duration.ofMinutes(1))).isTrue();
  }

  private List<Path> files(String ending) throws Exception {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(file -> file.toString().endsWith(ending)).toList();
    }
  }

  @Test
  void aConversationContinuesOnAnotherServerWithTheFolder() throws Exception {
    try (TestServer first = start(folder.toString())) {
      assertThat(content(first.ask(CHAT, FIRST))).isEqualTo(answer);
    }
    // Pending writes finished on close.
    try (TestServer second = start(folder + ",1GiB")) {
      JsonObject further = second.ask(CHAT, secondTurn);
      assertThat(content(further)).isEqualTo(secondAnswer);
      assertThat(cachedTokens(further)).isGreaterThanOrEqualTo(256);
      assertThat(tier(further)).isEqualTo("disk");
      assertThat(further.getAsJsonObject("timings").get("cache_ms").getAsDouble()).isPositive();
      JsonObject again = second.ask(CHAT, secondTurn);
      assertThat(content(again)).isEqualTo(secondAnswer);
      assertThat(tier(again)).isEqualTo("memory");
      JsonObject store = second.get("/kvasir/state").getAsJsonObject("store");
      assertThat(store.get("hits").getAsInt()).isOne();
      assertThat(store.get("tokens").getAsInt()).isEqualTo(cachedTokens(further));
      JsonObject tier = store.getAsJsonArray("tiers").get(0).getAsJsonObject();
      assertThat(tier.get("name").getAsString()).isEqualTo(folder.toString());
      assertThat(tier.get("bytes").getAsLong()).isPositive();
      assertThat(second.send(second.to("/metrics").build()).body())
          .contains("kvasir_store_prompts_total{result=\"hit\"} 1\n")
          .contains("kvasir_store_tokens_fetched_total %d\n".formatted(cachedTokens(further)))
          .contains("kvasir_store_hits_total{tier=\"%s\",place=\"disk\"} ".formatted(folder))
          .contains("kvasir_store_read_bytes_per_second{")
          .contains("kvasir_prompt_tokens_per_second ");
      assertThat(second.log()).doesNotContain("failed", "cannot");
    }
  }

  @Test
  void aConversationContinuesOnAnotherServerWithTheRedis() throws Exception {
    try (TestRedis redis = TestRedis.start(folder);
        TestServer first = start(redis.address());
        TestServer second = start(folder.resolve("near").toString(), redis.address())) {
      assertThat(content(first.ask(CHAT, FIRST))).isEqualTo(answer);
      awaitStored(first, 2);
      JsonObject store = first.get("/kvasir/state").getAsJsonObject("store");
      assertThat(store.get("prompt_tokens_per_second").getAsDouble()).isPositive();
      JsonObject further = second.ask(CHAT, secondTurn);
      assertThat(content(further)).isEqualTo(secondAnswer);
      assertThat(cachedTokens(further)).isGreaterThanOrEqualTo(256);
      assertThat(tier(further)).isEqualTo("redis");
      awaitStored(second, 2);
      // What was fetched from Redis is copied to the folder.
      assertThat(files(".kvblock")).isNotEmpty();
      JsonObject back = first.ask(CHAT, secondTurn);
      assertThat(content(back)).isEqualTo(secondAnswer);
      assertThat(first.log() + second.log()).doesNotContain("failed", "cannot");
    }
  }

  @Test
  void anUnreachableOrSilentRedisFailsNoRequest() throws Exception {
    try (ServerSocket silent = new ServerSocket(0);
        TestServer server =
            start(
                "redis://127.0.0.1:" + TestRedis.freePort(),
                "redis://127.0.0.1:" + silent.getLocalPort())) {
      JsonObject first = server.ask(CHAT, FIRST);
      assertThat(content(first)).isEqualTo(answer);
      assertThat(cachedTokens(first)).isZero();
      assertThat(content(server.ask(CHAT, secondTurn))).isEqualTo(secondAnswer);
      JsonObject store = server.get("/kvasir/state").getAsJsonObject("store");
      for (var tier : store.getAsJsonArray("tiers")) {
        assertThat(tier.getAsJsonObject().get("failures").getAsInt()).isPositive();
      }
    }
  }

  private static JsonObject askWith(TestServer server, String key, String body) throws Exception {
    HttpRequest request =
        server
            .to(CHAT)
            .header("Authorization", "Bearer " + key)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return JsonParser.parseString(server.send(request).body()).getAsJsonObject();
  }

  @Test
  void anotherKeyFindsNothingInMemoryOrStore() throws Exception {
    AccessRules access = AccessRules.of(List.of("key-of-anna", "key-of-bert"), Set.of());
    List<StoreAddress> stores = List.of(StoreAddress.parse(folder.toString()));
    try (TestServer server =
        TestServer.start(
            64 << 20,
            options -> options.withCacheSpecs(KINDS).withStores(stores).withAccess(access))) {
      assertThat(cachedTokens(askWith(server, "key-of-anna", FIRST))).isZero();
      assertThat(cachedTokens(askWith(server, "key-of-bert", FIRST))).isZero();
    }
    try (TestServer server =
        TestServer.start(
            64 << 20,
            options -> options.withCacheSpecs(KINDS).withStores(stores).withAccess(access))) {
      forget(server, "key-of-bert");
      JsonObject hers = askWith(server, "key-of-anna", secondTurn);
      assertThat(content(hers)).isEqualTo(secondAnswer);
      assertThat(cachedTokens(hers)).isGreaterThanOrEqualTo(256);
      JsonObject his = askWith(server, "key-of-bert", secondTurn);
      assertThat(content(his)).isEqualTo(secondAnswer);
      assertThat(cachedTokens(his)).isZero();
    }
  }

  private static void forget(TestServer server, String key) throws Exception {
    HttpRequest request =
        server
            .to("/kvasir/conversations/a%20conversation")
            .header("Authorization", "Bearer " + key)
            .DELETE()
            .build();
    assertThat(server.send(request).statusCode()).isEqualTo(204);
  }

  @Test
  void damagedPrefixesArePrefilledAgain() throws Exception {
    try (TestServer first = start(folder.toString())) {
      first.ask(CHAT, FIRST);
    }
    for (Path file : files(".kvblock")) {
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length / 2] ^= 1;
      Files.write(file, bytes);
    }
    try (TestServer second = start(folder.toString())) {
      JsonObject further = second.ask(CHAT, secondTurn);
      assertThat(content(further)).isEqualTo(secondAnswer);
      assertThat(cachedTokens(further)).isZero();
      assertThat(second.send(second.to("/metrics").build()).body())
          .contains("kvasir_store_prompts_total{result=\"damaged\"} 1\n");
    }
  }

  @Test
  void aConversationThatIsDeletedLeavesNothingInTheStore() throws Exception {
    try (TestServer first = start(folder.toString())) {
      first.ask(CHAT, FIRST);
      awaitStored(first, 2);
      assertThat(files(".kvblock")).isNotEmpty();
    }
    try (TestServer second = start(folder.toString())) {
      second.ask(CHAT, secondTurn);
      forget(second, "any");
    }
    assertThat(files(".kvblock")).isEmpty();
    assertThat(files(".kvrecord")).isEmpty();
  }
}

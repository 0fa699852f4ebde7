package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.BlobTierContract;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

class RedisTierTest extends BlobTierContract {
  private static final SampleBlob BLOCK = SampleBlob.block(7, 5_000);

  @TempDir private static Path folder;
  private static RedisServer server;
  private final List<String> reports = new ArrayList<>();

  @BeforeAll
  static void startAServer() throws Exception {
    server = RedisServer.start(folder);
  }

  @AfterAll
  static void stopIt() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected BlobTier open() {
    try (Connection connection = new Connection("127.0.0.1", server.port())) {
      connection.sendCommand(Command.FLUSHALL);
      connection.getStatusCodeReply();
    }
    return openAgain();
  }

  @Override
  protected BlobTier openAgain() {
    return open("redis://127.0.0.1:%d?ttl=2h".formatted(server.port()));
  }

  private RedisTier open(String address) {
    return new RedisTier(RedisAddress.parse(address), null, TestTimeouts.PATIENT, reports::add);
  }

  private static byte[] read(BlobTier tier, BlobName name) {
    return tier.read(List.of(name), Deadline.in(Duration.ofSeconds(30))).get(name);
  }

  private static String key(BlobName name) {
    return "kvasir:1:" + name.kind().word() + ":" + name.hex();
  }

  private static long timeToLive(BlobName name) {
    return send(Command.TTL, key(name));
  }

  private static long send(Command command, String... arguments) {
    try (Connection connection = new Connection("127.0.0.1", server.port())) {
      connection.sendCommand(command, arguments);
      return connection.getIntegerReply();
    }
  }

  @Test
  void aBlobIsStoredUnderItsKeyForItsTimeToLive() {
    try (BlobTier tier = open()) {
      tier.write(BLOCK.name(), BLOCK.bytes());
      assertThat(timeToLive(BLOCK.name())).isBetween(7_000L, 7_200L);
      assertThat(send(Command.STRLEN, key(BLOCK.name()))).isEqualTo(5_000);
    }
  }

  @Test
  void everyUseAndEveryWriteRenewsTheTimeToLive() {
    try (BlobTier tier = open()) {
      SampleBlob record = SampleBlob.record(7, 10);
      tier.write(BLOCK.name(), BLOCK.bytes());
      tier.write(record.name(), record.bytes());
      for (BlobName name : List.of(BLOCK.name(), record.name())) {
        send(Command.EXPIRE, key(name), "100");
      }
      tier.touch(List.of(BLOCK.name()));
      tier.write(record.name(), record.bytes());
      assertThat(timeToLive(BLOCK.name())).isGreaterThan(7_000);
      assertThat(timeToLive(record.name())).isGreaterThan(7_000);
      send(Command.EXPIRE, key(BLOCK.name()), "100");
      tier.write(BLOCK.name(), BLOCK.bytes());
      assertThat(timeToLive(BLOCK.name())).isGreaterThan(7_000);
    }
  }

  @Test
  void databasesAreApart() {
    try (BlobTier zero = open();
        BlobTier three = open("redis://127.0.0.1:%d/3".formatted(server.port()))) {
      three.write(BLOCK.name(), BLOCK.bytes());
      assertThat(read(zero, BLOCK.name())).isNull();
      assertThat(read(three, BLOCK.name())).isEqualTo(BLOCK.bytes());
    }
  }

  @Test
  void twoProcessesShareAServer() {
    try (BlobTier one = open();
        BlobTier another = open("redis://127.0.0.1:" + server.port())) {
      one.write(BLOCK.name(), BLOCK.bytes());
      assertThat(read(another, BLOCK.name())).isEqualTo(BLOCK.bytes());
    }
  }

  @Test
  void aConnectionThatTheServerHasClosedIsMadeAnewWithoutAFailure() {
    try (BlobTier tier = open()) {
      tier.write(BLOCK.name(), BLOCK.bytes());
      for (int i = 0; i < 3; i++) {
        send(Command.CLIENT, "KILL", "TYPE", "normal", "SKIPME", "yes");
        assertThat(read(tier, BLOCK.name())).isEqualTo(BLOCK.bytes());
      }
      assertThat(tier.failures()).isZero();
    }
  }

  @Test
  void aKeyOfAnotherTypeIsAMissAndIsReported() {
    try (BlobTier tier = open()) {
      send(Command.RPUSH, key(BLOCK.name()), "x");
      assertThat(read(tier, BLOCK.name())).isNull();
      assertThat(reports)
          .containsExactly(
              "the store redis://127.0.0.1:%d/0 is left alone for 5 s: it answered WRONGTYPE"
                  .formatted(server.port()));
    }
  }

  @Test
  void aServerThatRecoversIsUsedAgain() throws Exception {
    try (RedisServer other = RedisServer.start(folder);
        BlobTier tier =
            new RedisTier(
                RedisAddress.parse("redis://127.0.0.1:" + other.port()),
                null,
                TestTimeouts.PERSISTENT,
                reports::add)) {
      tier.write(BLOCK.name(), BLOCK.bytes());
      other.stop();
      assertThat(read(tier, BLOCK.name())).isNull();
      assertThat(reports).singleElement().asString().endsWith(": nobody listens there");
      other.start();
      for (int i = 0; i < 1000 && !tier.write(BLOCK.name(), BLOCK.bytes()); i++) {
        Thread.sleep(5);
      }
      assertThat(read(tier, BLOCK.name())).isEqualTo(BLOCK.bytes());
    }
  }

  @Test
  void aPasswordAuthenticatesAndIsNeverPrinted() throws Exception {
    try (RedisServer locked =
        RedisServer.start(
            folder,
            "--requirepass",
            "open sesame",
            "--user",
            "ann",
            "on",
            ">p@ss",
            "+@all",
            "~*")) {
      String host = "127.0.0.1:" + locked.port();
      try (BlobTier tier = open("redis://:open%20sesame@" + host);
          BlobTier other = open("redis://ann:p%40ss@" + host);
          BlobTier wrong = open("redis://ann:SECRET@" + host);
          BlobTier none = open("redis://" + host)) {
        assertThat(tier.write(BLOCK.name(), BLOCK.bytes())).isTrue();
        other.write(BLOCK.name(), BLOCK.bytes());
        assertThat(reports).isEmpty();
        assertThat(read(wrong, BLOCK.name())).isNull();
        assertThat(read(none, BLOCK.name())).isNull();
        assertThat(reports)
            .containsExactly(
                "the store redis://%s/0 is left alone for 5 s: it answered WRONGPASS"
                    .formatted(host),
                "the store redis://%s/0 is left alone for 5 s: it answered NOAUTH".formatted(host));
      }
    }
  }
}

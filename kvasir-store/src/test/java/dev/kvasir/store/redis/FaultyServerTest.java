package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.redis.FaultyServer.Behavior;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultyServerTest {
  private static final List<BlobName> MANY =
      LongStream.range(0, 64).mapToObj(i -> SampleBlob.block(i, 10).name()).toList();

  private final List<String> reports = Collections.synchronizedList(new ArrayList<>());

  private interface Use {
    void of(RedisTier tier, FaultyServer server) throws Exception;
  }

  private void with(Behavior behavior, Use use) throws Exception {
    with(TestTimeouts.BRISK, behavior, use);
  }

  private void with(RedisTimeouts timeouts, Behavior behavior, Use use) throws Exception {
    try (FaultyServer server = new FaultyServer(behavior);
        RedisTier tier = new RedisTier(server.address(), null, timeouts, reports::add)) {
      use.of(tier, server);
    }
  }

  private static Map<BlobName, byte[]> read(RedisTier tier) {
    return tier.read(MANY, Deadline.in(tier.defaultReadTimeout()));
  }

  private static void answer(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
  }

  private static void hear(Socket socket) throws IOException {
    socket.getInputStream().read(new byte[8192]);
  }

  @Test
  void aServerThatNeverAnswersIsCalledOnceAndThenSuspended() throws Exception {
    with(
        socket -> {},
        (tier, server) -> {
          for (int i = 0; i < 100; i++) {
            assertThat(read(tier)).isEmpty();
            assertThat(tier.has(MANY, Deadline.none())).isEmpty();
            assertThat(tier.write(MANY.get(0), new byte[10])).isFalse();
            tier.touch(MANY);
            tier.delete(MANY.get(0));
          }
          assertThat(server.accepted()).isLessThan(5);
          assertThat(reports).singleElement().asString().endsWith(": it did not answer in time");
        });
  }

  /** A server without any reply for that long is down, however long the caller would wait. */
  @Test
  void aSilentServerIsAbandonedBeforeAFarDeadline() throws Exception {
    with(socket -> {}, (tier, server) -> assertThat(tier.read(MANY, Deadline.none())).isEmpty());
  }

  @Test
  void aServerThatReadsNothingDoesNotBlockAWriter() throws Exception {
    with(
        socket -> {},
        (tier, server) -> {
          SampleBlob large = SampleBlob.record(1, 20_000_000);
          assertThat(tier.write(large.name(), large.bytes())).isFalse();
        });
  }

  /** Every byte arrives within the socket timeout, but the reply never ends. */
  @Test
  void aTricklingServerIsAbandonedAtTheDeadline() throws Exception {
    with(
        socket -> {
          answer(socket, "$1000000\r\n");
          while (true) {
            answer(socket, "x");
            Thread.sleep(20);
          }
        },
        (tier, server) -> {
          assertThat(read(tier)).isEmpty();
          assertThat(tier.failures()).isEqualTo(1);
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\r\n\r\n\r\n",
        ":7\r\n",
        "+OK\r\n",
        "*3\r\n:1\r\n",
        "$-7\r\n",
        "$notanumber\r\n",
        "$2147483647\r\n",
        "*2147483647\r\n",
        "$99999999999999999999\r\n",
        "$1600000000\r\n",
        "$3\r\nfour\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "-\r\n",
        "-ERR unknown\r\n"
      })
  void garbageIsAMiss(String garbage) throws Exception {
    with(
        socket -> {
          answer(socket, garbage);
          hear(socket);
          socket.close();
        },
        (tier, server) -> {
          assertThat(read(tier)).isEmpty();
          assertThat(tier.write(MANY.get(0), new byte[10])).isFalse();
          assertThat(tier.failures()).isPositive();
          assertThat(reports).hasSize(1);
        });
  }

  @Test
  void randomBytesAreMisses() throws Exception {
    Random random = new Random(3);
    with(
        socket -> {
          byte[] noise = new byte[1000];
          random.nextBytes(noise);
          socket.getOutputStream().write(noise);
          hear(socket);
          socket.close();
        },
        (tier, server) -> assertThat(read(tier)).isEmpty());
  }

  @Test
  void blobsThatArriveBeforeAServerDiesAreReturned() throws Exception {
    with(
        TestTimeouts.PATIENT,
        socket -> {
          hear(socket);
          answer(socket, "$3\r\none\r\n$-1\r\n$3\r\ntwo\r\n$100\r\nhalf of");
          socket.shutdownOutput();
        },
        (tier, server) -> {
          Map<BlobName, byte[]> found = read(tier);
          assertThat(found.keySet()).containsExactly(MANY.get(0), MANY.get(2));
          assertThat(found.get(MANY.get(2))).asString().isEqualTo("two");
          assertThat(tier.failures()).isEqualTo(1);
        });
  }

  /** The deadline grows until a reply arrives before it, on however slow a machine. */
  @Test
  void aSlowServerIsNotTakenForOneThatIsDown() throws Exception {
    Duration deadline = Duration.ofMillis(500);
    while (!aReplyArrivesTwiceBefore(deadline)) {
      deadline = deadline.multipliedBy(2);
      assertThat(deadline).isLessThan(Duration.ofMinutes(2));
    }
  }

  private boolean aReplyArrivesTwiceBefore(Duration deadline) throws Exception {
    AtomicBoolean arrives = new AtomicBoolean();
    with(
        TestTimeouts.PATIENT,
        socket -> {
          hear(socket);
          answer(socket, "$3\r\none\r\n");
          socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        },
        (tier, server) -> {
          if (tier.read(MANY, Deadline.in(deadline)).size() == 1) {
            assertThat(tier.failures()).isZero();
            arrives.set(tier.read(MANY, Deadline.in(deadline)).size() == 1);
          }
        });
    return arrives.get();
  }

  /** Some servers echo a command in an error. */
  @Test
  void aPasswordEchoedByTheServerIsNotPrinted() throws Exception {
    try (FaultyServer server =
        new FaultyServer(
            socket -> {
              hear(socket);
              answer(socket, "-ERR unknown command AUTH with args: hush SESAME\r\n");
              answer(socket, "-SESAME\r\n");
            })) {
      String typed = server.address().toString().replace("://", "://ann:SESAME@");
      RedisAddress address = RedisAddress.parse(typed);
      try (RedisTier tier = new RedisTier(address, null, TestTimeouts.PATIENT, reports::add)) {
        assertThat(read(tier)).isEmpty();
        assertThat(tier.name()).doesNotContain("SESAME");
        assertThat(reports)
            .singleElement()
            .asString()
            .doesNotContain("SESAME")
            .endsWith(": it answered ERR");
        assertThat(address.toString()).doesNotContain("SESAME");
      }
    }
  }

  @Test
  void noServerIsAMiss() throws Exception {
    RedisAddress nobody = RedisAddress.parse("redis://127.0.0.1:" + RedisServer.freePort());
    try (RedisTier tier = new RedisTier(nobody, null, TestTimeouts.PATIENT, reports::add)) {
      assertThat(read(tier)).isEmpty();
      assertThat(reports).singleElement().asString().endsWith(": nobody listens there");
    }
  }

  @Test
  void aClosedTierIsEmpty() throws Exception {
    RedisTier tier =
        new RedisTier(
            RedisAddress.parse("redis://127.0.0.1:1"), null, TestTimeouts.PATIENT, reports::add);
    tier.close();
    assertThat(read(tier)).isEmpty();
    assertThat(reports).isEmpty();
  }
}

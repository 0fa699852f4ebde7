package dev.kvasir.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.server.api.ApiException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that send a byte now and then, which no idle timeout ends. */
@Timeout(60)
class SlowClientsTest {
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private final CountDownLatch handling = new CountDownLatch(1);
  private final CountDownLatch slowIsClosed = new CountDownLatch(1);

  /** Returns bytes one by one, each of which takes some time of a clock. */
  private static InputStream trickle(int bytes, AtomicLong clock, Duration each) {
    return new InputStream() {
      private int left = bytes;

      @Override
      public int read() {
        clock.addAndGet(each.toNanos());
        return left-- > 0 ? 'a' : -1;
      }

      @Override
      public int read(byte[] to, int at, int length) {
        int value = read();
        to[at] = (byte) value;
        return value < 0 ? -1 : 1;
      }
    };
  }

  @Test
  void aBodyHasHalfAMinuteAndASecondForEveryTenThousandBytes() throws Exception {
    AtomicLong clock = new AtomicLong();
    assertThat(new BodyReader(trickle(29, clock, Duration.ofSeconds(1)), clock::get).read(100))
        .hasSize(29);
    assertThatThrownBy(
            () -> new BodyReader(trickle(40, clock, Duration.ofSeconds(1)), clock::get).read(100))
        .isInstanceOf(ApiException.class)
        .hasMessage("the request arrives too slowly; expected 10000 bytes per second")
        .extracting(e -> ((ApiException) e).status())
        .isEqualTo(408);
    int large = 400_000;
    assertThat(
            new BodyReader(trickle(large, clock, Duration.ofNanos(150_000)), clock::get)
                .read(large))
        .hasSize(large);
  }

  @Test
  void aBodyIsReadUpToItsLimit() throws Exception {
    BodyReader whole = new BodyReader(new ByteArrayInputStream(new byte[100]), System::nanoTime);
    assertThat(whole.read(100)).hasSize(100);
    BodyReader more = new BodyReader(new ByteArrayInputStream(new byte[101]), System::nanoTime);
    assertThatThrownBy(() -> more.read(100)).hasMessageContaining("more than 100 bytes");
  }

  /** The connection is closed while bytes still arrive, and another one is not. */
  @Test
  void aHeadThatNeverEndsIsDisconnected() throws Exception {
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    SlowConnections guarded = new SlowConnections(new Waiting(), LIMIT);
    server.setHandler(guarded);
    server.addConnector(connector);
    connector.addBean(guarded, false);
    server.start();
    try (Socket patient = new Socket("127.0.0.1", connector.getLocalPort())) {
      send(patient, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      handling.await();
      try (Socket slow = new Socket("127.0.0.1", connector.getLocalPort())) {
        send(slow, "GET / HTTP/1.1\r\nHost: local");
        slow.setSoTimeout(10);
        while (!isClosed(slow)) {
          send(slow, "h");
        }
      }
      slowIsClosed.countDown();
      assertThat(new String(patient.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");
    } finally {
      server.stop();
    }
  }

  /** A response that takes longer than the limit of a head. */
  private final class Waiting extends Handler.Abstract {
    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      handling.countDown();
      slowIsClosed.await();
      callback.succeeded();
      return true;
    }
  }

  private static void send(Socket socket, String text) {
    try {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
    } catch (IOException e) {
      // The server has closed the connection.
    }
  }

  private static boolean isClosed(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}

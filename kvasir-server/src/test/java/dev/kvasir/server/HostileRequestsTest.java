package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that are made to take much time or memory end soon with one error. */
@Timeout(60)
class HostileRequestsTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final int MANY = 100_000;

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    assertThat(server.log()).isEmpty();
    server.close();
  }

  static List<String> bombs() {
    String digits = "9".repeat(MANY);
    String text = "a".repeat(1 << 16);
    return List.of(
        "[".repeat(MANY),
        "{\"a\":".repeat(MANY),
        "{\"messages\": " + "[".repeat(MANY) + "]".repeat(MANY) + "}",
        "{\"prompt\": \"Hi\", \"max_tokens\": " + digits + "}",
        "{\"prompt\": \"Hi\", \"temperature\": 0." + digits + "e" + digits + "}",
        "{\"prompt\": \"Hi\", \"seed\": 1e" + digits + "}",
        "{\"prompt\": \"Hi\", \"temperature\": -" + digits + "." + digits + "}",
        "{\"prompt\": \"Hi\", \"kv\": \"" + text + "\"}",
        "{\"prompt\": \"Hi\", \"max_tokens\": \"" + text + "\"}",
        "{\"prompt\": \"Hi\", \"" + text + "\": 1, \"" + text + "\": 2}",
        "{\"messages\": [{\"role\": \"" + text + "\", \"content\": \"Hi\"}]}",
        "{\"prompt\": [" + "[],".repeat(MANY) + "[]]}",
        "{\"prompt\": \"Hi\", \"stop\": [" + "\"x\",".repeat(MANY) + "\"x\"]}",
        "{\"prompt\": \"Hi\", \"logit_bias\": {\"" + digits + "\": 1}}",
        "\"\\ud800".repeat(MANY));
  }

  /** The message names the value, but does not repeat it. */
  @ParameterizedTest
  @MethodSource("bombs")
  void jsonBombsAreRefusedInOneSentence(String body) throws Exception {
    String path = body.contains("messages") ? CHAT : "/v1/completions";
    HttpResponse<String> response = server.post(path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(response.body()).hasSizeLessThan(1000).contains("invalid_request_error");
  }

  private static Socket connect() throws IOException {
    return new Socket("127.0.0.1", server.port());
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().flush();
  }

  private static String statusLine(Socket socket) throws IOException {
    byte[] head = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
    return new String(head, StandardCharsets.ISO_8859_1);
  }

  private static String headers(int count, int length) {
    StringBuilder head = new StringBuilder("GET /health HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < count; i++) {
      head.append("X-%d: %s\r\n".formatted(i, "a".repeat(length)));
    }
    return head.append("\r\n").toString();
  }

  @Test
  void headerBombsAreRefused() throws Exception {
    for (String head : List.of(headers(1, 20_000), headers(2_000, 10), headers(200, 100))) {
      try (Socket socket = connect()) {
        send(socket, head);
        assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 431");
      }
    }
    try (Socket socket = connect()) {
      send(socket, "GET /" + "a".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 414");
    }
  }

  /** Heads and bodies that do not go on, and connections that say nothing. */
  @Test
  void manySlowClientsDelayNobody() throws Exception {
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        Socket socket = connect();
        slow.add(socket);
        switch (i % 3) {
          case 0 -> send(socket, "POST /v1/completions HTTP/1.1\r\nHost: local");
          case 1 ->
              send(
                  socket,
                  "POST /v1/completions HTTP/1.1\r\n"
                      + "Host: localhost\r\n"
                      + "Content-Length: 99\r\n\r\n"
                      + "{");
          default -> {}
        }
      }
      for (int i = 0; i < 5; i++) {
        assertThat(server.complete("{\"prompt\": \"Fast\", \"max_tokens\": 2}")).isNotEmpty();
      }
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
  }

  /** A client that only ends its own side still reads. */
  @Test
  void aHalfClosedConnectionGetsItsResponse() throws Exception {
    try (Socket socket = connect()) {
      String body = "{\"prompt\": \"Half\", \"max_tokens\": 2}";
      send(
          socket,
          "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(body.length(), body));
      socket.shutdownOutput();
      assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 200");
    }
    assertThat(server.bytesWhenQuiet()).isZero();
  }

  @Test
  void aBodyThatEndsEarlyLeavesNothingBehind() throws Exception {
    try (Socket socket = connect()) {
      send(
          socket,
          "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{\"pro");
      socket.shutdownOutput();
      socket.getInputStream().readAllBytes();
    }
    assertThat(server.bytesWhenQuiet()).isZero();
  }
}

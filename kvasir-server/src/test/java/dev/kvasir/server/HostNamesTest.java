package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which host names a request may be sent to; DNS rebinding uses names of an attacker. */
class HostNamesTest {
  private static final AccessRules LOCAL = AccessRules.loopback().listeningOn("127.0.0.1");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LocalHost:8080",
        "app.localhost:80",
        "localhost.",
        "127.0.0.1:8080",
        "192.168.0.7",
        "[::1]:8080",
        "[::1]"
      })
  void addressesAndLocalhostAreAccepted(String host) {
    assertThatCode(() -> LOCAL.checkHost(host)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "notlocalhost",
        "",
        "[::1].evil.example",
        "1.2.3.x"
      })
  void foreignNamesAreRefusedOnLoopback(String host) {
    assertThatThrownBy(() -> LOCAL.checkHost(host)).isInstanceOf(ApiException.class);
  }

  @Test
  void listedNamesAreAccepted() {
    AccessRules listed = LOCAL.withHosts(Set.of("Chat.Example.org"));
    assertThatCode(() -> listed.checkHost("chat.example.org:443")).doesNotThrowAnyException();
    assertThatCode(() -> listed.checkOrigin("https://chat.example.org", "chat.example.org"))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> listed.checkHost("example.org")).isInstanceOf(ApiException.class);
  }

  @Test
  void keysOrAnotherInterfaceAcceptAllNamesUnlessSomeAreListed() {
    AccessRules keys = AccessRules.of(List.of("secret-key"), Set.of()).listeningOn("127.0.0.1");
    AccessRules open = AccessRules.loopback().listeningOn("0.0.0.0");
    for (AccessRules rules : List.of(keys, open)) {
      assertThatCode(() -> rules.checkHost("some.name")).doesNotThrowAnyException();
      AccessRules listed = rules.withHosts(Set.of("own.name"));
      assertThatThrownBy(() -> listed.checkHost("some.name")).isInstanceOf(ApiException.class);
    }
  }

  @Test
  void aReboundPageReadsNothing() throws Exception {
    try (TestServer server = TestServer.start()) {
      assertThat(get(server, "evil.example:" + server.port()))
          .startsWith("HTTP/1.1 403")
          .contains("the host name of this request is not accepted; --allow-host names those")
          .doesNotContain("conversations");
      assertThat(get(server, "localhost:" + server.port())).startsWith("HTTP/1.1 200");
    }
  }

  /** Java's client does not let a program set the header. */
  private static String get(TestServer server, String host) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      String head =
          "GET /kvasir/state HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n".formatted(host);
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

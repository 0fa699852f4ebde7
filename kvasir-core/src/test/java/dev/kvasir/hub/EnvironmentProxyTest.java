package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvironmentProxyTest {
  private static final Map<String, String> VARIABLES =
      Map.of("HTTPS_PROXY", "http://proxy:3128", "no_proxy", "localhost, .corp.example");

  private static Proxy of(String address, Map<String, String> variables) {
    return new EnvironmentProxy(variables::get, null).select(URI.create(address)).getFirst();
  }

  @Test
  void theVariableOfTheSchemeApplies() {
    Proxy proxy = of("https://huggingface.co/a", VARIABLES);
    InetSocketAddress address = (InetSocketAddress) proxy.address();
    assertThat(address.getHostString()).isEqualTo("proxy");
    assertThat(address.getPort()).isEqualTo(3128);
    assertThat(of("http://huggingface.co/a", VARIABLES)).isEqualTo(Proxy.NO_PROXY);
  }

  @Test
  void excludedHostsHaveNone() {
    assertThat(of("https://hub.corp.example/a", VARIABLES)).isEqualTo(Proxy.NO_PROXY);
    assertThat(of("https://corp.example/a", VARIABLES)).isEqualTo(Proxy.NO_PROXY);
    assertThat(of("https://localhost:1/a", VARIABLES)).isEqualTo(Proxy.NO_PROXY);
    assertThat(of("https://mycorp.example/a", VARIABLES)).isNotEqualTo(Proxy.NO_PROXY);
  }

  @Test
  void aMistakeIsOneSentenceWithoutThePassword() {
    assertThatThrownBy(() -> of("https://a.b/", Map.of("HTTPS_PROXY", "socks5://me:pw@proxy")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("the proxy is")
        .hasMessageNotContaining("pw");
  }
}

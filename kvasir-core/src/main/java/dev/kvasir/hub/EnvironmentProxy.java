package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The proxy that {@code HTTPS_PROXY}, {@code HTTP_PROXY} and {@code NO_PROXY} name, in either case
 * of letters. Java itself reads only system properties, which apply where no variable does.
 */
final class EnvironmentProxy extends ProxySelector {
  private final Function<String, String> variables;
  private final ProxySelector others;

  /**
   * @param variables returns null for a variable that is not set
   * @param others asked for addresses without a variable; may be null
   */
  EnvironmentProxy(Function<String, String> variables, ProxySelector others) {
    this.variables = variables;
    this.others = others;
  }

  @Override
  public List<Proxy> select(URI address) {
    Optional<String> proxy =
        value(address.getScheme().equals("https") ? "HTTPS_PROXY" : "HTTP_PROXY");
    if (proxy.isPresent() && !isExcluded(address.getHost())) {
      return List.of(new Proxy(Proxy.Type.HTTP, parse(proxy.get())));
    }
    return proxy.isPresent() || others == null ? List.of(Proxy.NO_PROXY) : others.select(address);
  }

  private Optional<String> value(String name) {
    return Stream.of(name.toLowerCase(Locale.ROOT), name)
        .map(variables)
        .filter(text -> text != null && !text.isBlank())
        .map(String::strip)
        .findFirst();
  }

  /** An entry excludes a host and all below it; an asterisk excludes every host. */
  private boolean isExcluded(String host) {
    String entries = value("NO_PROXY").orElse("");
    return Stream.of(entries.split(","))
        .map(entry -> entry.strip().toLowerCase(Locale.ROOT).replaceFirst("^\\*?\\.", ""))
        .filter(entry -> !entry.isEmpty())
        .anyMatch(entry -> entry.equals("*") || isBelow(host.toLowerCase(Locale.ROOT), entry));
  }

  private static boolean isBelow(String host, String domain) {
    return host.equals(domain) || host.endsWith("." + domain);
  }

  private static InetSocketAddress parse(String text) {
    try {
      URI uri = URI.create(text.contains("://") ? text : "http://" + text);
      if (uri.getHost() != null && !uri.getScheme().startsWith("socks")) {
        return new InetSocketAddress(uri.getHost(), uri.getPort() < 0 ? 80 : uri.getPort());
      }
    } catch (IllegalArgumentException e) {
      // Reported below, like an address of another kind.
    }
    throw new InvalidInputException(
        "the proxy is '%s'; expected an address such as http://host:3128"
            .formatted(text.replaceFirst("//[^@/]*@", "//")));
  }

  @Override
  public void connectFailed(URI address, SocketAddress proxy, IOException reason) {
    // The request that fails reports it.
  }
}

package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;

/**
 * Requests to a hub and to the hosts it redirects to. The token goes to the hub's own address only:
 * redirects are never followed by the HTTP client, since it would send the header along.
 */
final class HubHttp implements AutoCloseable {
  private static final String AGENT = "kvasir";

  private final HubSettings settings;
  private final RetryPolicy retries;
  private final HttpClient client;

  private HubHttp(HubSettings settings, RetryPolicy retries, HttpClient client) {
    this.settings = settings;
    this.retries = retries;
    this.client = client;
  }

  HubHttp(HubSettings settings, RetryPolicy retries) {
    this.settings = settings;
    this.retries = retries;
    this.client =
        HttpClient.newBuilder()
            // Parts of a file get a connection each; HTTP/2 would put them on one.
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(settings.timeout())
            .proxy(new EnvironmentProxy(System::getenv, ProxySelector.getDefault()))
            .build();
  }

  /** Returns the same connections without repeated requests, to be closed with this object. */
  HubHttp withoutRetries() {
    return new HubHttp(settings, new RetryPolicy(1, retries.pause()), client);
  }

  HubSettings settings() {
    return settings;
  }

  RetryPolicy retries() {
    return retries;
  }

  /** Returns a request that asks for the bytes as they are, with the token if it may go there. */
  HttpRequest.Builder request(URI address) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address)
            .timeout(settings.timeout())
            .header("User-Agent", AGENT)
            .header("Accept-Encoding", "identity");
    if (isHub(address)) {
      settings.token().ifPresent(token -> request.header("Authorization", "Bearer " + token));
    }
    return request;
  }

  /** Returns whether an address has the scheme, host and port of the hub. */
  boolean isHub(URI address) {
    URI hub = settings.endpoint();
    return hub.getScheme().equalsIgnoreCase(address.getScheme())
        && hub.getHost().equalsIgnoreCase(address.getHost())
        && port(hub) == port(address);
  }

  private static int port(URI address) {
    if (address.getPort() >= 0) {
      return address.getPort();
    }
    return "https".equalsIgnoreCase(address.getScheme()) ? 443 : 80;
  }

  /** Returns the target of a redirect; an encrypted connection never becomes a plain one. */
  URI redirected(URI from, String location) {
    try {
      URI to = from.resolve(location);
      boolean isWeb = "https".equals(to.getScheme()) || "http".equals(to.getScheme());
      boolean isDowngrade = "https".equals(from.getScheme()) && !"https".equals(to.getScheme());
      if (isWeb && to.getHost() != null && !isDowngrade) {
        return to;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, like an address of another kind.
    }
    throw new InvalidInputException(
        "%s: redirects to '%s'; expected a web address".formatted(from.getHost(), location));
  }

  /**
   * Sends a request until there is an answer other than a temporary failure.
   *
   * @throws HubUnreachableException if there is none after all attempts
   */
  <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> body) {
    for (int failures = 1; ; failures++) {
      String reason;
      Duration wait = RetryPolicy.backoff(failures);
      try {
        HttpResponse<T> response = sendOnce(request, body, () -> 0);
        if (!isTemporary(response.statusCode())) {
          return response;
        }
        reason = "answers %d".formatted(response.statusCode());
        wait = RetryPolicy.requestedWait(response.headers(), Instant.now()).orElse(wait);
      } catch (IOException e) {
        reason = reason(e);
      }
      if (failures >= retries.attempts() || wait.compareTo(RetryPolicy.MAX_WAIT) > 0) {
        throw unreachable(request.uri(), reason, failures, wait);
      }
      pause(wait);
    }
  }

  /**
   * Sends a request once and waits for the whole body. The HTTP client limits only the wait for the
   * head of an answer, so this method watches that bytes keep coming.
   *
   * @param received bytes so far
   */
  <T> HttpResponse<T> sendOnce(HttpRequest request, BodyHandler<T> body, LongSupplier received)
      throws IOException {
    CompletableFuture<HttpResponse<T>> answer = client.sendAsync(request, body);
    long before = -1;
    while (true) {
      try {
        return answer.get(settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        long now = received.getAsLong();
        if (now == before) {
          answer.cancel(true);
          throw new HttpTimeoutException("no byte came in time");
        }
        before = now;
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case IOException cause -> throw cause;
          case RuntimeException cause -> throw cause;
          default -> throw new IOException(e.getCause());
        }
      } catch (InterruptedException e) {
        answer.cancel(true);
        throw interrupted();
      }
    }
  }

  void pause(Duration wait) {
    try {
      retries.pause().sleep(wait);
    } catch (InterruptedException e) {
      throw interrupted();
    }
  }

  static HubUnreachableException interrupted() {
    Thread.currentThread().interrupt();
    return new HubUnreachableException("the download was interrupted; it continues when repeated");
  }

  static boolean isTemporary(int status) {
    return status == 408 || status == 429 || status >= 500;
  }

  static HubUnreachableException unreachable(
      URI address, String reason, int attempts, Duration wait) {
    String host = address.getPort() < 0 ? address.getHost() : address.getAuthority();
    return new HubUnreachableException(
        wait.compareTo(RetryPolicy.MAX_WAIT) > 0
            ? "%s: %s and asks to wait %d s; expected at most %d s"
                .formatted(host, reason, wait.toSeconds(), RetryPolicy.MAX_WAIT.toSeconds())
            : "%s: %s, after %d attempt%s"
                .formatted(host, reason, attempts, attempts == 1 ? "" : "s"));
  }

  /** Returns the reason of a failed request in words. */
  static String reason(IOException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
        return "has no address in this network";
      }
    }
    return switch (e) {
      case HttpConnectTimeoutException timeout -> "cannot be reached in time";
      case HttpTimeoutException timeout -> "does not answer in time";
      case ConnectException refused -> "refuses connections";
      case ProtocolException malformed -> "sends a wrong answer: " + malformed.getMessage();
      case SSLException tls -> "has no valid certificate or encryption: " + tls.getMessage();
      default -> "breaks the connection";
    };
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}

package dev.kvasir.server.http;

import dev.kvasir.KvasirException;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Finds the endpoint of a request, checks access, and turns exceptions into JSON errors. */
public final class Router extends Handler.Abstract {
  private final Map<String, Map<String, Route>> routes = new LinkedHashMap<>(); // path, method
  private final AccessRules access;
  private final Metrics metrics;
  private final ServerLog log;
  private final int maxBodyBytes;
  private final LongSupplier retrySeconds;

  private record Route(String name, Endpoint endpoint, boolean isPublic) {}

  /**
   * @param retrySeconds when a client of a busy server should retry
   */
  Router(
      AccessRules access,
      Metrics metrics,
      ServerLog log,
      int maxBodyBytes,
      LongSupplier retrySeconds) {
    super(InvocationType.BLOCKING);
    this.access = access;
    this.metrics = metrics;
    this.log = log;
    this.maxBodyBytes = maxBodyBytes;
    this.retrySeconds = retrySeconds;
  }

  /** Adds a route. A path that ends with a slash matches every path with that prefix. */
  Router add(String method, String path, Endpoint endpoint) {
    return add(method, path, new Route(path, endpoint, false));
  }

  /** Adds a route that needs no key. */
  Router addPublic(String method, String path, Endpoint endpoint) {
    return add(method, path, new Route(path, endpoint, true));
  }

  private Router add(String method, String path, Route route) {
    routes.computeIfAbsent(path, any -> new LinkedHashMap<>()).put(method, route);
    return this;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    long begin = System.nanoTime();
    Exchange exchange = new Exchange(request, response, maxBodyBytes);
    String name = "unknown";
    try {
      try {
        access.checkHost(exchange.header(HttpHeader.HOST));
        checkOrigin(exchange);
        if (isPreflight(exchange)) {
          name = "preflight";
          sendPreflight(exchange);
        } else {
          Route route = find(exchange);
          name = route.name();
          exchange.errors(route.endpoint()::error);
          if (!route.isPublic()) {
            exchange.tenant(access.tenant(credentials(exchange)));
          }
          route.endpoint().handle(exchange);
        }
      } catch (ApiException e) {
        refuse(exchange, e);
      } catch (KvasirException e) {
        refuse(exchange, ApiException.of(e));
      }
      callback.succeeded();
    } catch (IOException e) {
      callback.failed(e); // the client has disconnected
    } catch (InterruptedException | RuntimeException | Error e) {
      log.failure("a request failed", e);
      fail(exchange, callback, e);
    }
    metrics.request(name, exchange.status(), System.nanoTime() - begin);
    return true;
  }

  /** Clients of the Messages API send their key in a header of its own. */
  private static String credentials(Exchange exchange) {
    String key = exchange.header("x-api-key");
    String given = exchange.header(HttpHeader.AUTHORIZATION);
    return given == null && key != null ? AccessRules.SCHEME + key : given;
  }

  private void checkOrigin(Exchange exchange) {
    String origin = exchange.header(HttpHeader.ORIGIN);
    access.checkOrigin(origin, exchange.header(HttpHeader.HOST));
    if (access.isAllowedOrigin(origin)) {
      exchange.header(HttpHeader.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
      exchange.header(HttpHeader.VARY, "Origin");
    }
  }

  private boolean isPreflight(Exchange exchange) {
    return exchange.method().equals("OPTIONS")
        && access.isAllowedOrigin(exchange.header(HttpHeader.ORIGIN));
  }

  private static void sendPreflight(Exchange exchange) throws IOException {
    exchange.header(HttpHeader.ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE");
    exchange.header(
        HttpHeader.ACCESS_CONTROL_ALLOW_HEADERS,
        "Authorization, Content-Type, X-Api-Key, Anthropic-Version, Anthropic-Beta");
    exchange.noContent();
  }

  private Route find(Exchange exchange) {
    String path = exchange.path();
    Map<String, Route> found = routes.get(path);
    for (var entry : routes.entrySet()) {
      String prefix = entry.getKey();
      boolean matches = prefix.length() > 1 && prefix.endsWith("/") && path.startsWith(prefix);
      found = found == null && matches ? entry.getValue() : found;
    }
    if (found == null) {
      throw ApiException.notFound(
          "there is nothing at this path; / has a page, /v1/ the interface");
    }
    Route route = found.get(exchange.method());
    if (route == null) {
      Set<String> methods = new TreeSet<>(found.keySet());
      exchange.header(HttpHeader.ALLOW, String.join(", ", methods));
      throw ApiException.methodNotAllowed(
          "the method is %s; expected %s"
              .formatted(exchange.method(), String.join(" or ", methods)));
    }
    return route;
  }

  private void refuse(Exchange exchange, ApiException e) throws IOException {
    if (e.status() == 429 || e.status() == 503) {
      exchange.header(HttpHeader.RETRY_AFTER, Long.toString(retrySeconds.getAsLong()));
    }
    if (e.status() == 401) {
      exchange.header(HttpHeader.WWW_AUTHENTICATE, "Bearer");
    }
    exchange.json(e.status(), exchange.error(e));
  }

  private static void fail(Exchange exchange, Callback callback, Throwable why) {
    try {
      if (exchange.isCommitted()) {
        callback.failed(why);
      } else {
        exchange.json(500, exchange.error(ApiException.internal()));
        callback.succeeded();
      }
    } catch (IOException disconnected) {
      callback.failed(disconnected);
    }
  }
}

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
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Finds the endpoint of a request, checks access, and turns exceptions into JSON errors. */
public final class Router extends Handler.Abstract {
  private static final String UNKNOWN = "unknown";

  private final Map<String, Map<String, Route>> routes = new LinkedHashMap<>(); // path, method
  private final Supplier<AccessRules> access;
  private final Metrics metrics;
  private final ServerLog log;
  private final int maxBodyBytes;
  private final LongSupplier retrySeconds;
  private final PreparationSlots slots = PreparationSlots.ofThisMachine();

  private Route otherwise = new Route(UNKNOWN, Router::refusePath, true);

  private record Route(String name, Endpoint endpoint, boolean isPublic) {}

  /**
   * @param access which clients are allowed; asked once a request
   * @param retrySeconds when a client of a busy server should retry
   */
  Router(
      Supplier<AccessRules> access,
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

  /** Sets what handles requests of paths without a route. */
  Router otherwise(Endpoint endpoint) {
    otherwise = new Route(UNKNOWN, endpoint, false);
    return this;
  }

  private Router add(String method, String path, Route route) {
    routes.computeIfAbsent(path, any -> new LinkedHashMap<>()).put(method, route);
    return this;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    long begin = System.nanoTime();
    Exchange exchange = new Exchange(request, response, maxBodyBytes, slots);
    try {
      try {
        admit(exchange, access.get());
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
    metrics.request(exchange.route(), exchange.status(), System.nanoTime() - begin);
    return true;
  }

  private void admit(Exchange exchange, AccessRules rules)
      throws IOException, InterruptedException {
    rules.checkHost(exchange.header(HttpHeader.HOST));
    checkOrigin(exchange, rules);
    if (isPreflight(exchange, rules)) {
      exchange.route("preflight");
      sendPreflight(exchange);
      return;
    }
    Route route = find(exchange);
    exchange.route(route.name());
    exchange.errors(route.endpoint()::error);
    if (!route.isPublic()) {
      exchange.tenant(rules.tenant(credentials(exchange)));
    }
    route.endpoint().handle(exchange);
  }

  /** Handles a request that another router has admitted. */
  void dispatch(Exchange exchange) throws IOException, InterruptedException {
    Route route = find(exchange);
    exchange.route(route.name());
    exchange.errors(route.endpoint()::error);
    route.endpoint().handle(exchange);
  }

  /** Clients of the Messages API send their key in a header of its own. */
  private static String credentials(Exchange exchange) {
    String key = exchange.header("x-api-key");
    String given = exchange.header(HttpHeader.AUTHORIZATION);
    return given == null && key != null ? AccessRules.SCHEME + key : given;
  }

  private static void checkOrigin(Exchange exchange, AccessRules rules) {
    String origin = exchange.header(HttpHeader.ORIGIN);
    rules.checkOrigin(origin, exchange.header(HttpHeader.HOST));
    if (rules.isAllowedOrigin(origin)) {
      exchange.header(HttpHeader.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
      exchange.header(HttpHeader.VARY, "Origin");
    }
  }

  private static boolean isPreflight(Exchange exchange, AccessRules rules) {
    return exchange.method().equals("OPTIONS")
        && rules.isAllowedOrigin(exchange.header(HttpHeader.ORIGIN));
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
      return otherwise;
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

  static void refusePath(Exchange exchange) {
    throw ApiException.notFound(
        exchange.path().startsWith("/v1/v1/")
            ? "there is nothing at /v1/v1/; expected a base URL without /v1, which this client adds"
            : "there is nothing at this path; / has a page, /v1/ the interface");
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

package dev.kvasir.server.page;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Serves the page and the API that it uses, a line at a time on request. */
final class StubServer implements AutoCloseable {
  private static final int TIMEOUT_SECONDS = 60;
  private static final int PLENTY = 1 << 20;
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<JsonObject> requests = new CopyOnWriteArrayList<>();
  private final List<String> paths = new CopyOnWriteArrayList<>();
  private final BlockingQueue<String> deleted = new LinkedBlockingQueue<>();
  private final BlockingQueue<StubResponse> replies = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> brokenOff = new LinkedBlockingQueue<>();
  private final Semaphore lines = new Semaphore(PLENTY);
  private volatile Optional<String> key = Optional.empty();
  private volatile boolean streamsEvents = true;
  private String state = StubStates.EMPTY;
  private boolean closed;

  private static final int MOST_PINGS = 4000;
  private static final int PING_MS = 5;

  private volatile boolean staysUntilLeft;

  /**
   * Keeps responses open until the client disconnects, since a browser may close connections late.
   */
  void stayUntilLeft() {
    staysUntilLeft = true;
  }

  StubServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::serve);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:%d/".formatted(server.getAddress().getPort()));
  }

  /** Sets the response to the next completion request; "Hello." by default. */
  void reply(StubResponse reply) {
    replies.add(reply);
  }

  /** From now on, lines of responses wait until they are released. */
  void hold() {
    lines.drainPermits();
  }

  void release(int count) {
    lines.release(count);
  }

  void releaseAll() {
    lines.release(PLENTY);
  }

  void wantKey(String wanted) {
    key = Optional.of(wanted);
  }

  void streamNoEvents() {
    streamsEvents = false;
  }

  synchronized void setState(String newState) {
    state = newState;
    notifyAll();
  }

  /** Returns the bodies of the completion requests. */
  List<JsonObject> requests() {
    return requests;
  }

  /** Returns the paths of the completion requests. */
  List<String> paths() {
    return paths;
  }

  /** Returns the next conversation that the page deletes. */
  String awaitDeleted() throws InterruptedException {
    return deleted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** Returns the path of the next response whose client disconnected. */
  String awaitBrokenOff() throws InterruptedException {
    return brokenOff.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  private void serve(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    try (exchange) {
      if (path.equals("/")) {
        resource(exchange, "index.html");
      } else if (path.startsWith("/page/")) {
        resource(exchange, path.substring("/page/".length()));
      } else if (!isKnown(exchange)) {
        whole(exchange, StubResponse.refusal(401, "The key is missing or unknown."));
      } else if (path.equals("/kvasir/state")) {
        whole(exchange, new StubResponse(200, Map.of(), List.of(state())));
      } else if (path.equals("/kvasir/events") && streamsEvents) {
        events(exchange);
      } else if (path.startsWith("/kvasir/conversations/")) {
        deleted.add(path.substring("/kvasir/conversations/".length()));
        exchange.sendResponseHeaders(204, -1);
      } else if (path.startsWith("/v1/")) {
        answer(exchange, path);
      } else {
        whole(exchange, StubResponse.refusal(404, "There is nothing here."));
      }
    }
  }

  private boolean isKnown(HttpExchange exchange) {
    String sent = exchange.getRequestHeaders().getFirst("Authorization");
    return key.map(wanted -> ("Bearer " + wanted).equals(sent)).orElse(true);
  }

  private static void resource(HttpExchange exchange, String name) throws IOException {
    try (InputStream in = StubServer.class.getResourceAsStream(name)) {
      if (in == null || !TYPES.containsKey(name.substring(name.lastIndexOf('.') + 1))) {
        whole(exchange, StubResponse.refusal(404, "There is no " + name));
        return;
      }
      byte[] bytes = in.readAllBytes();
      exchange
          .getResponseHeaders()
          .set("Content-Type", TYPES.get(name.substring(name.lastIndexOf('.') + 1)));
      exchange.getResponseHeaders().set("Content-Security-Policy", "default-src 'self'");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private static void whole(HttpExchange exchange, StubResponse reply) throws IOException {
    byte[] bytes = String.join("", reply.lines()).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    reply.headers().forEach(exchange.getResponseHeaders()::set);
    exchange.sendResponseHeaders(reply.status(), bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void answer(HttpExchange exchange, String path) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    requests.add(JsonParser.parseString(body).getAsJsonObject());
    paths.add(path);
    StubResponse reply = Optional.ofNullable(replies.poll()).orElse(StubResponse.chat("Hello."));
    if (reply.status() != 200) {
      whole(exchange, reply);
      return;
    }
    OutputStream out = stream(exchange);
    try {
      for (String line : reply.lines()) {
        lines.acquireUninterruptibly();
        write(out, line);
      }
      for (int i = 0; staysUntilLeft && i < MOST_PINGS; i++) {
        write(out, ": still here\n\n");
        Thread.sleep(PING_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      brokenOff.add(path);
    }
  }

  private static OutputStream stream(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    out.flush(); // The page may show that it waits.
    return out;
  }

  private static void write(OutputStream out, String line) throws IOException {
    out.write(line.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Streams the current state, then every change. */
  private void events(HttpExchange exchange) throws IOException {
    OutputStream out = stream(exchange);
    String sent = null;
    for (String next = state(); next != null; next = after(sent)) {
      write(out, StubResponse.data(next));
      sent = next;
    }
  }

  private synchronized String state() {
    return state.replace("\n", "");
  }

  /** Returns the next state that differs from this one, or null when the server closes. */
  private synchronized String after(String sent) {
    while (!closed && state().equals(sent)) {
      try {
        wait();
      } catch (InterruptedException e) {
        return null;
      }
    }
    return closed ? null : state();
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    releaseAll();
    server.stop(0);
    threads.shutdownNow();
  }
}

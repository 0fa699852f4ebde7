package dev.kvasir.server.page;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A headless Chromium and the DevTools protocol of one tab. */
final class DevTools implements AutoCloseable {
  private static final int TIMEOUT_SECONDS = 60;

  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final BlockingQueue<JsonObject> answers = new LinkedBlockingQueue<>();
  private final List<JsonObject> events = new CopyOnWriteArrayList<>();
  private final WebSocket socket;
  private final String session;
  private int lastId;

  DevTools(Path program, Path profile) throws IOException {
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox", // Root in a container cannot use it; only our page is opened.
                "--disable-gpu",
                "--hide-scrollbars",
                // Emulates a mouse for media queries; 2 can hover, 4 is a fine pointer.
                "--blink-settings=primaryHoverType=2,availableHoverTypes=2,"
                    + "primaryPointerType=4,availablePointerTypes=4",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-extensions",
                "--disable-component-extensions-with-background-pages",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-default-apps",
                "--disable-sync",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    socket = client.newWebSocketBuilder().buildAsync(address(), new Listener()).join();
    JsonObject target = call("Target.createTarget", Map.of("url", "about:blank"), null);
    JsonObject attached =
        call(
            "Target.attachToTarget",
            Map.of("targetId", target.get("targetId").getAsString(), "flatten", true),
            null);
    session = attached.get("sessionId").getAsString();
    for (String domain : List.of("Page", "Runtime", "Log", "Network", "Accessibility")) {
      call(domain + ".enable", Map.of());
    }
  }

  /** Reads the address that the browser prints at startup, and drops the rest of its output. */
  private URI address() throws IOException {
    BufferedReader reader = process.errorReader();
    String start = "DevTools listening on ";
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.startsWith(start)) {
        // A virtual one would hold the carrier of all others where there is one processor.
        Thread.ofPlatform().daemon().start(() -> drain(reader));
        return URI.create(line.substring(start.length()));
      }
    }
    throw new IOException("the browser ended before it was ready");
  }

  private static void drain(BufferedReader reader) {
    try (Stream<String> lines = reader.lines()) {
      lines.forEach(line -> {});
    } catch (UncheckedIOException e) {
      // The browser was closed.
    }
  }

  /**
   * Responses have the id of their call; everything else is an event. Messages arrive in pieces.
   */
  private final class Listener implements WebSocket.Listener {
    private final StringBuilder message = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence piece, boolean last) {
      message.append(piece);
      if (last) {
        JsonObject whole = JsonParser.parseString(message.toString()).getAsJsonObject();
        message.setLength(0);
        (whole.has("id") ? answers : events).add(whole);
      }
      from.request(1);
      return null;
    }
  }

  JsonObject call(String method, Map<String, Object> parameters) {
    return call(method, parameters, session);
  }

  private JsonObject call(String method, Map<String, Object> parameters, String to) {
    JsonObject message = new JsonObject();
    message.addProperty("id", ++lastId);
    message.addProperty("method", method);
    message.add("params", new Gson().toJsonTree(parameters));
    if (to != null) {
      message.addProperty("sessionId", to);
    }
    socket.sendText(message.toString(), true).join();
    try {
      JsonObject answer = answers.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (answer == null || answer.has("error")) {
        throw new IllegalStateException("%s was answered with %s".formatted(method, answer));
      }
      return answer.getAsJsonObject("result");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  void forgetEvents() {
    events.clear();
  }

  /** Returns the parameters of events with this name since the last clear. */
  List<JsonObject> events(String method) {
    return events.stream()
        .filter(event -> event.get("method").getAsString().equals(method))
        .map(event -> event.getAsJsonObject("params"))
        .toList();
  }

  /** Returns once nothing writes to the profile any more. */
  @Override
  public void close() {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    call("Browser.close", Map.of(), null);
    socket.abort();
    client.shutdownNow();
    all.forEach(one -> one.onExit().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join());
  }
}

package dev.kvasir.lab.report;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A headless Chromium, controlled through its DevTools protocol. */
final class Browser implements AutoCloseable {
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome");
  private static final int PATIENCE_SECONDS = 60;

  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final BlockingQueue<JsonObject> answers = new LinkedBlockingQueue<>();
  private final List<JsonObject> events = new CopyOnWriteArrayList<>();
  private final WebSocket socket;
  private final String session;
  private int lastId;

  /**
   * Returns the browser named by {@code KVASIR_BROWSER}, as a property or in the environment, or
   * found on the path.
   */
  static Optional<Path> find() {
    String named = System.getProperty("KVASIR_BROWSER", System.getenv("KVASIR_BROWSER"));
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  Browser(Path program, Path profile) throws IOException {
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox", // which a container's root could not use; only our own page is
                // opened
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-dev-shm-usage",
                "--no-first-run",
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
    for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
      call(domain + ".enable", Map.of());
    }
  }

  /** Reads the address that the browser prints as it starts and discards the rest of its output. */
  private URI address() throws IOException {
    BufferedReader reader = process.errorReader();
    String start = "DevTools listening on ";
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.startsWith(start)) {
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

  /** Matches responses to calls by id; everything else is an event. Messages arrive in parts. */
  private final class Listener implements WebSocket.Listener {
    private final StringBuilder message = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      message.append(part);
      if (last) {
        JsonObject whole = JsonParser.parseString(message.toString()).getAsJsonObject();
        message.setLength(0);
        (whole.has("id") ? answers : events).add(whole);
      }
      from.request(1);
      return null;
    }
  }

  private JsonObject call(String method, Map<String, Object> parameters) {
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
      JsonObject answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (answer == null || answer.has("error")) {
        throw new IllegalStateException("%s was answered with %s".formatted(method, answer));
      }
      return answer.getAsJsonObject("result");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Opens a page at a screen width, in light or dark colors. */
  void open(Path page, int width, String scheme) {
    events.clear();
    colours(scheme);
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    call("Page.navigate", Map.of("url", page.toUri().toString()));
    await(
        "document.readyState === 'complete' && location.protocol === 'file:' && innerWidth === "
            + width);
  }

  void colours(String scheme) {
    Map<String, Object> feature = Map.of("name", "prefers-color-scheme", "value", scheme);
    call("Emulation.setEmulatedMedia", Map.of("features", List.of(feature)));
  }

  /** Waits until an expression is true and the page was painted since. */
  void await(String expression) {
    for (int i = 0; i < 600; i++) {
      if (value(expression).getAsBoolean()) {
        value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))");
        return;
      }
      value("new Promise(done => setTimeout(done, 50))");
    }
    throw new IllegalStateException("never true: " + expression);
  }

  /** Returns the value of an expression in the page. */
  JsonElement value(String expression) {
    JsonObject answer =
        call(
            "Runtime.evaluate",
            Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
    if (answer.has("exceptionDetails")) {
      throw new IllegalStateException(answer.toString());
    }
    return answer.getAsJsonObject("result").get("value");
  }

  /** Returns the errors of the page since it was opened: exceptions and policy violations. */
  List<String> errors() {
    return events.stream()
        .filter(
            event ->
                List.of("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
                    .contains(event.get("method").getAsString()))
        .map(JsonObject::toString)
        .toList();
  }

  /** Returns the URLs that the page requested since it was opened. */
  List<String> requests() {
    return events.stream()
        .filter(event -> event.get("method").getAsString().equals("Network.requestWillBeSent"))
        .map(event -> event.getAsJsonObject("params").getAsJsonObject("request"))
        .map(request -> request.get("url").getAsString())
        .toList();
  }

  /** Saves a screenshot of the whole page. */
  void screenshot(Path png) throws IOException {
    JsonObject picture =
        call("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true));
    Files.createDirectories(png.getParent());
    Files.write(png, Base64.getDecoder().decode(picture.get("data").getAsString()));
  }

  /** Returns after nothing writes to the browser profile any more. */
  @Override
  public void close() {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    call("Browser.close", Map.of(), null);
    socket.abort();
    client.shutdownNow();
    all.forEach(one -> one.onExit().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join());
  }
}

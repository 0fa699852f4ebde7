package dev.kvasir.server.page;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A page in a real browser that tests open, read, click and type into. */
public final class BrowserPage implements AutoCloseable {
  /** Why a test that needs a browser is skipped. */
  public static final String NO_BROWSER =
      "no chromium, chromium-browser or google-chrome is on the PATH, and KVASIR_BROWSER names"
          + " none";

  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome");
  private static final int TRIES = 600;
  private static final int BETWEEN_TRIES_MS = 50;
  private static final int SHIFT = 8;

  private final DevTools tools;

  /**
   * Returns the browser of the property or environment variable {@code KVASIR_BROWSER}, or one on
   * the path.
   */
  public static Optional<Path> program() {
    String named = System.getProperty("KVASIR_BROWSER", System.getenv("KVASIR_BROWSER"));
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * @param profile a separate folder, which may be deleted after close
   */
  public BrowserPage(Path program, Path profile) throws IOException {
    tools = new DevTools(program, profile);
    size(1280, 900);
  }

  public void size(int width, int height) {
    tools.call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** Sets the preferred color scheme: light or dark. */
  public void colours(String scheme) {
    media("prefers-color-scheme", scheme);
  }

  public void media(String feature, String value) {
    List<Map<String, String>> features = List.of(Map.of("name", feature, "value", value));
    tools.call("Emulation.setEmulatedMedia", Map.of("features", features));
  }

  /** Deletes what pages of this address have stored. A port may have been another server's. */
  public void forget(URI address) {
    String origin = "http://" + address.getAuthority();
    tools.call("Storage.clearDataForOrigin", Map.of("origin", origin, "storageTypes", "all"));
  }

  /** Opens a page and waits until it is loaded. */
  public void open(URI address) {
    value("0"); // Flushes pending events of the previous page.
    tools.forgetEvents();
    tools.call("Page.navigate", Map.of("url", address.toString()));
    awaitLoad();
  }

  public void reload() {
    tools.forgetEvents();
    tools.call("Page.reload", Map.of());
    awaitLoad();
  }

  private void awaitLoad() {
    for (int i = 0; i < TRIES; i++) {
      if (!tools.events("Page.loadEventFired").isEmpty()) {
        return;
      }
      sleep();
    }
    throw new IllegalStateException("the page was never loaded");
  }

  private static void sleep() {
    try {
      Thread.sleep(BETWEEN_TRIES_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns the value of an expression in the page; a promise is awaited. */
  public JsonElement value(String expression) {
    JsonObject answer =
        tools.call(
            "Runtime.evaluate",
            Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
    if (answer.has("exceptionDetails")) {
      throw new IllegalStateException(answer.toString());
    }
    return answer.getAsJsonObject("result").get("value");
  }

  /** Waits until an expression is true. */
  public void await(String expression) {
    for (int i = 0; i < TRIES; i++) {
      if (value("Boolean(%s)".formatted(expression)).getAsBoolean()) {
        return;
      }
      sleep();
    }
    throw new IllegalStateException(
        "never true: %s%npage: %s".formatted(expression, value("document.body.innerText")));
  }

  /** Waits until the visible text of the first matching element contains this. */
  public void awaitText(String selector, String text) {
    await(
        "document.querySelector(%s)?.innerText.includes(%s)"
            .formatted(quoted(selector), quoted(text)));
  }

  /** Returns the visible text. */
  public String text(String selector) {
    return value("document.querySelector(%s).innerText".formatted(quoted(selector))).getAsString();
  }

  public int count(String selector) {
    return value("document.querySelectorAll(%s).length".formatted(quoted(selector))).getAsInt();
  }

  public boolean isShown(String selector) {
    return value(
            "document.querySelector(%s)?.checkVisibility() ?? false".formatted(quoted(selector)))
        .getAsBoolean();
  }

  /** The center of an element, once nothing covers it. */
  private static final String MIDDLE =
      """
      (() => {
        const found = document.querySelector(%s);
        if (!found || found.disabled) return null;
        found.scrollIntoView({ block: 'nearest' });
        const box = found.getBoundingClientRect();
        const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        const hit = document.elementFromPoint(point.x, point.y);
        return box.width > 0 && (found.contains(hit) || hit?.contains(found)) ? point : null;
      })()
      """;

  /** Clicks an element as soon as it exists and nothing covers it. */
  public void click(String selector) {
    String middle = MIDDLE.formatted(quoted(selector));
    await(middle + " !== null");
    JsonObject point = value(middle).getAsJsonObject();
    for (String type : List.of("mouseMoved", "mousePressed", "mouseReleased")) {
      tools.call(
          "Input.dispatchMouseEvent",
          Map.of(
              "type",
              type,
              "x",
              point.get("x").getAsDouble(),
              "y",
              point.get("y").getAsDouble(),
              "button",
              type.equals("mouseMoved") ? "none" : "left",
              "clickCount",
              type.equals("mouseMoved") ? 0 : 1));
    }
  }

  /** Types into the focused element. */
  public void type(String text) {
    tools.call("Input.insertText", Map.of("text", text));
  }

  /** Clicks a field and replaces its content. */
  public void fill(String selector, String text) {
    click(selector);
    value("document.querySelector(%s).select()".formatted(quoted(selector)));
    type(text);
  }

  /** Keys by name, with their Windows key codes. */
  private static final Map<String, Integer> KEYS =
      Map.of(
          "Enter",
          13,
          "Escape",
          27,
          "Tab",
          9,
          "Delete",
          46,
          "F2",
          113,
          "ArrowDown",
          40,
          "ArrowUp",
          38,
          "Home",
          36,
          "End",
          35);

  public void press(String key) {
    press(key, 0);
  }

  public void pressWithShift(String key) {
    press(key, SHIFT);
  }

  private void press(String key, int modifiers) {
    String text = key.equals("Enter") ? "\r" : "";
    for (String type : List.of(text.isEmpty() ? "rawKeyDown" : "keyDown", "keyUp")) {
      tools.call(
          "Input.dispatchKeyEvent",
          Map.of(
              "type",
              type,
              "key",
              key,
              "code",
              key,
              "windowsVirtualKeyCode",
              KEYS.get(key),
              "text",
              type.equals("keyUp") ? "" : text,
              "modifiers",
              modifiers));
    }
  }

  /** A node of the accessibility tree. */
  public record Accessible(String role, String name) {}

  /** Returns the accessibility tree in page order. */
  public List<Accessible> accessibles() {
    return tools
        .call("Accessibility.getFullAXTree", Map.of())
        .getAsJsonArray("nodes")
        .asList()
        .stream()
        .map(JsonElement::getAsJsonObject)
        .filter(node -> !node.get("ignored").getAsBoolean())
        .map(node -> new Accessible(property(node, "role"), property(node, "name")))
        .toList();
  }

  private static String property(JsonObject node, String property) {
    JsonObject value = node.getAsJsonObject(property);
    return value == null || !value.has("value") ? "" : value.get("value").getAsString();
  }

  /** Returns exceptions, errors and console messages since the page was opened. */
  public List<JsonObject> errors() {
    return Stream.of("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        .flatMap(name -> tools.events(name).stream())
        .toList();
  }

  /** Returns the addresses that the page fetched since it was opened. */
  public List<String> requests() {
    return tools.events("Network.requestWillBeSent").stream()
        .map(event -> event.getAsJsonObject("request").get("url").getAsString())
        .toList();
  }

  /** Saves a screenshot. */
  public void photograph(Path png) throws IOException {
    value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))");
    JsonObject picture = tools.call("Page.captureScreenshot", Map.of("format", "png"));
    Files.createDirectories(png.toAbsolutePath().getParent());
    Files.write(png, Base64.getDecoder().decode(picture.get("data").getAsString()));
  }

  /** Returns a JavaScript string literal. */
  public static String quoted(String text) {
    return new Gson().toJson(text);
  }

  @Override
  public void close() {
    tools.close();
  }
}

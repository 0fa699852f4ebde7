package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * One browser for all test classes, and per test a server with a new address, so that the browser
 * has no state of it. No test may leave an error on the console.
 */
final class BrowserExtension implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
  private BrowserPage page;
  private StubServer server;

  /** Ends with the last test. */
  private record Browser(Path profile, BrowserPage page) implements AutoCloseable {
    static Browser start() {
      Optional<Path> program = BrowserPage.program();
      assumeTrue(program.isPresent(), BrowserPage.NO_BROWSER);
      try {
        Path profile = Files.createTempDirectory("kvasir-page");
        return new Browser(profile, new BrowserPage(program.get(), profile));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      page.close();
      try (Stream<Path> files = Files.walk(profile)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    page =
        context
            .getRoot()
            .getStore(Namespace.create(BrowserExtension.class))
            .getOrComputeIfAbsent(Browser.class, any -> Browser.start(), Browser.class)
            .page();
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    server = new StubServer();
    page.forget(server.address());
    page.size(1280, 900);
    page.colours("light");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    List<JsonObject> errors = page.errors().stream().filter(this::isUnexpected).toList();
    List<String> requests = page.requests();
    server.close();
    assertThat(errors).isEmpty();
    assertThat(requests).allMatch(address -> address.startsWith(server.address().toString()));
  }

  /**
   * The browser logs each failed request. Errors of the stub and of a closed server are expected.
   */
  private boolean isUnexpected(JsonObject error) {
    if (!error.has("entry")) {
      return true;
    }
    JsonObject entry = error.getAsJsonObject("entry");
    String address = entry.has("url") ? entry.get("url").getAsString() : "";
    boolean ofTheStub =
        !address.startsWith(server.address() + "page/")
            || entry.get("text").getAsString().contains("ERR_CONNECTION_REFUSED");
    return !entry.get("source").getAsString().equals("network") || !ofTheStub;
  }

  BrowserPage page() {
    return page;
  }

  StubServer server() {
    return server;
  }

  /** Opens the page and waits until it shows the model. */
  void open() {
    page.open(server.address());
    page.await("document.getElementById('model-name').textContent !== ''");
  }

  /** Types a message and sends it. */
  void say(String message) {
    page.click("#message");
    page.type(message);
    page.press("Enter");
  }

  /** Waits until the last response has ended. */
  void awaitEnd() {
    page.await(
        "document.querySelector('.turn:last-child.answer:not(.streaming)')"
            + " && !document.querySelector('#send').hidden");
  }
}

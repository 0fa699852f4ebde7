package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.server.TestServer;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page with a real server. */
class RealServerTest {
  @TempDir private Path profile;

  @Test
  void aTextStreamsIsStoppedAndItsBytesFallOnceItIsDeleted() throws Exception {
    Optional<Path> program = BrowserPage.program();
    assumeTrue(program.isPresent(), BrowserPage.NO_BROWSER);
    try (TestServer server = TestServer.start();
        BrowserPage page = new BrowserPage(program.get(), profile)) {
      page.open(URI.create("http://127.0.0.1:%d/".formatted(server.port())));
      page.await("document.getElementById('model-name').textContent !== ''");
      page.click("#message");
      page.type("The old man looked at the sea, and the sea was calm. ".repeat(25));
      page.press("Enter");
      page.await("document.querySelector('.turn:last-child.answer')?.textContent.length > 60");
      page.click("#stop");
      page.await("!document.querySelector('#send').hidden");
      awaitQuiet(server);
      // The prefix is cached for the next turn, under the name of this conversation.
      page.await("document.querySelector('#memory .strip .segment') !== null");
      assertThat(server.model().cacheMemory().usedBytes()).isPositive();
      page.photograph(Path.of("target/page/real-server.png"));
      page.value("document.querySelector('.line-open').focus()");
      page.press("Delete");
      page.click("#delete-dialog [value=delete]");
      while (server.model().cacheMemory().usedBytes() > 0) {
        Thread.sleep(20);
      }
      assertThat(page.errors()).isEmpty();
    }
  }

  private static void awaitQuiet(TestServer server) throws Exception {
    while (server.running() > 0) {
      Thread.sleep(20);
    }
  }
}

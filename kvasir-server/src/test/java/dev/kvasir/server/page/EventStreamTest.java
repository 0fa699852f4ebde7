package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Event streams, split at any position. */
class EventStreamTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  private static final String READ =
      """
      import('/page/event-stream.js').then(async ({ eventsOf }) => {
        const bytes = new TextEncoder().encode(%s);
        const body = new ReadableStream({
          start(control) {
            for (let i = 0; i < bytes.length; i += %d) control.enqueue(bytes.slice(i, i + %<d));
            control.close();
          },
        });
        const found = [];
        for await (const event of eventsOf(body)) found.push(event);
        return JSON.stringify(found);
      })
      """;

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n"})
  void piecesMayEndAnywhere(String end) {
    browser.open();
    String stream =
        String.join(
            end,
            ": reading 1/2",
            "",
            "data: één €",
            "data: 𝄞",
            "",
            "event: x",
            "data:[DONE]",
            "",
            "");
    for (int size = 1; size < 20; size++) {
      assertThat(
              browser.page().value(READ.formatted(BrowserPage.quoted(stream), size)).getAsString())
          .isEqualTo(
              "[{\"comment\":\"reading 1/2\"},{\"data\":\"één €\\n𝄞\"},{\"data\":\"[DONE]\"}]");
    }
  }
}

package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.ResponseBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Writes a completion as one JSON object, possibly after leading spaces. The spaces keep the
 * connection alive during generation and detect a disconnect, which reading from the socket cannot.
 */
final class JsonCompletionWriter implements CompletionWriter {
  private final Exchange exchange;
  private final ResponseBuilder response;
  private OutputStream out; // null until the first write
  private long lastSentNanos = System.nanoTime();

  JsonCompletionWriter(Exchange exchange, ResponseBuilder response) {
    this.exchange = exchange;
    this.response = response;
  }

  @Override
  public void idle(String why) throws IOException {
    lastSentNanos = System.nanoTime();
    out().write(' ');
    out().flush();
  }

  private OutputStream out() {
    if (out == null) {
      out = exchange.begin(200, "application/json; charset=utf-8");
    }
    return out;
  }

  @Override
  public void accept(CompletionEvent event) throws IOException {
    if (System.nanoTime() - lastSentNanos
        > TimeUnit.SECONDS.toNanos(CompletionEndpoint.KEEPALIVE_SECONDS)) {
      idle("");
    }
    response.collect(event);
  }

  @Override
  public void end(int promptTokens) throws IOException {
    write(response.build(promptTokens).toString());
  }

  private void write(String json) throws IOException {
    out().write(json.getBytes(StandardCharsets.UTF_8));
    out().close();
  }

  @Override
  public void fail(ApiException why) throws IOException {
    if (!exchange.isCommitted()) {
      throw why;
    }
    write(why.json().toString());
  }
}

package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.ResponseFormat;
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
  private final ResponseFormat format;
  private OutputStream out; // null until the first write
  private long lastSentNanos = System.nanoTime();

  JsonCompletionWriter(Exchange exchange, ResponseFormat format) {
    this.exchange = exchange;
    this.format = format;
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
  public void begin(int promptTokens, Runnable cancel) {
    format.begin(promptTokens, cancel);
  }

  @Override
  public void accept(CompletionEvent event) throws IOException {
    if (System.nanoTime() - lastSentNanos
        > TimeUnit.SECONDS.toNanos(CompletionRunner.KEEPALIVE_SECONDS)) {
      idle("");
    }
    format.collect(event);
  }

  @Override
  public void end() throws IOException {
    write(format.build().toString());
  }

  private void write(String json) throws IOException {
    out().write(json.getBytes(StandardCharsets.UTF_8));
    out().close();
  }

  @Override
  public void fail(ApiException why) throws IOException {
    format.fail(why);
    if (!exchange.isCommitted()) {
      throw why;
    }
    write(exchange.error(why).toString());
  }
}

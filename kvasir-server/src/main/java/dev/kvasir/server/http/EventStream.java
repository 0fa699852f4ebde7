package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.StreamEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A stream of server-sent events. Writing to a disconnected client throws. */
final class EventStream {
  static final String TYPE = "text/event-stream; charset=utf-8";

  private final Exchange exchange;
  private OutputStream out; // null until the first write

  EventStream(Exchange exchange) {
    this.exchange = exchange;
  }

  void data(JsonObject json) throws IOException {
    event(StreamEvent.of(json));
  }

  void event(StreamEvent event) throws IOException {
    String name = event.name() == null ? "" : "event: " + event.name() + "\n";
    write(name + "data: " + event.data() + "\n\n");
  }

  /** Writes a line that clients ignore; it keeps the connection alive and detects a disconnect. */
  void comment(String text) throws IOException {
    write(": " + text + "\n\n");
  }

  private void write(String text) throws IOException {
    if (out == null) {
      out = exchange.begin(200, TYPE);
    }
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  void close() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}

package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.ResponseFormat;
import dev.kvasir.server.api.StreamEvent;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Writes a completion as server-sent events. */
final class StreamingCompletionWriter implements CompletionWriter {
  private final Exchange exchange;
  private final EventStream stream;
  private final ResponseFormat format;
  private boolean began;

  StreamingCompletionWriter(Exchange exchange, ResponseFormat format) {
    this.exchange = exchange;
    this.stream = new EventStream(exchange);
    this.format = format;
  }

  @Override
  public void idle(String why) throws IOException {
    Optional<StreamEvent> event = began ? format.keepAlive() : Optional.empty();
    if (event.isPresent()) {
      stream.event(event.get());
    } else {
      stream.comment(why);
    }
  }

  @Override
  public void begin(int promptTokens, Runnable cancel) throws IOException {
    began = true;
    send(format.begin(promptTokens, cancel));
  }

  private void send(List<StreamEvent> events) throws IOException {
    for (StreamEvent event : events) {
      stream.event(event);
    }
  }

  @Override
  public void accept(CompletionEvent event) throws IOException {
    if (event instanceof CompletionEvent.PrefillProgress progress
        && progress.done() < progress.total()) {
      stream.comment("reading %d/%d".formatted(progress.done(), progress.total()));
    }
    send(format.events(event));
  }

  @Override
  public void end() throws IOException {
    send(format.end());
    stream.close();
  }

  @Override
  public void fail(ApiException why) throws IOException {
    List<StreamEvent> last = format.fail(why);
    if (!exchange.isCommitted()) {
      throw why;
    }
    send(last);
    stream.close();
  }
}

package dev.kvasir.server.http;

import dev.kvasir.KvasirException;
import dev.kvasir.chat.Completion;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestQueue;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.ResponseBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Handles completion requests of one API, streaming or not. */
final class CompletionEndpoint implements Endpoint {
  /** A client that waits this long gets a keep-alive, which also detects a disconnect. */
  static final long KEEPALIVE_SECONDS = 1;

  private final RequestQueue queue;
  private final InFlightResponses inFlight;
  private final Function<Fields, CompletionRequest> reader;
  private final Function<Fields, ResponseBuilder> responses;

  CompletionEndpoint(
      RequestQueue queue,
      InFlightResponses inFlight,
      Function<Fields, CompletionRequest> reader,
      Function<Fields, ResponseBuilder> responses) {
    this.queue = queue;
    this.inFlight = inFlight;
    this.reader = reader;
    this.responses = responses;
  }

  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    Fields fields = exchange.body();
    CompletionRequest request = reader.apply(fields).withTenant(exchange.tenant());
    ResponseBuilder response = responses.apply(fields);
    try (InFlightResponses.InFlight _ = inFlight.begin()) {
      complete(
          request,
          fields.isTrue("stream")
              ? streamingWriter(exchange, fields, response)
              : new JsonCompletionWriter(exchange, response));
    }
  }

  private static CompletionWriter streamingWriter(
      Exchange exchange, Fields fields, ResponseBuilder response) {
    boolean wantsUsage =
        fields.object("stream_options").filter(o -> o.isTrue("include_usage")).isPresent();
    return new StreamingCompletionWriter(new EventStream(exchange), response, wantsUsage);
  }

  private void complete(CompletionRequest request, CompletionWriter writer)
      throws IOException, InterruptedException {
    Completion completion = begin(request, writer);
    try {
      follow(completion, writer);
    } catch (KvasirException e) {
      completion.stop(Completion.StopCause.CANCELLED);
      writer.fail(ApiException.of(e));
    } catch (IOException | InterruptedException | RuntimeException e) {
      completion.stop(Completion.StopCause.CANCELLED);
      throw e;
    }
  }

  private static void follow(Completion completion, CompletionWriter writer)
      throws IOException, InterruptedException {
    int left = completion.choices();
    while (left > 0) {
      CompletionEvent event = completion.next(KEEPALIVE_SECONDS, TimeUnit.SECONDS);
      switch (event) {
        case null -> writer.idle("working");
        case CompletionEvent.Failed failed -> throw failed.cause();
        default -> writer.accept(event);
      }
      left -= event instanceof CompletionEvent.Done ? 1 : 0;
    }
    writer.end(completion.promptTokens());
  }

  private Completion begin(CompletionRequest request, CompletionWriter writer) throws IOException {
    try {
      return queue.begin(request, () -> notifyWaiting(writer));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void notifyWaiting(CompletionWriter writer) {
    try {
      writer.idle("waiting");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

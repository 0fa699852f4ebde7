package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.server.api.CacheSalt;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.api.ResponseFormat;
import java.io.IOException;
import java.util.function.Function;

/** Handles completion requests of one API, streaming or not. */
final class CompletionEndpoint implements Endpoint {
  private final CompletionRunner runner;
  private final Function<Fields, CompletionRequest> reader;
  private final Function<Fields, ResponseFormat> formats;

  CompletionEndpoint(
      CompletionRunner runner,
      Function<Fields, CompletionRequest> reader,
      Function<Fields, ResponseFormat> formats) {
    this.runner = runner;
    this.reader = reader;
    this.formats = formats;
  }

  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    Prepared prepared = prepare(exchange);
    exchange.forgetBody();
    runner.run(prepared.request, prepared.writer);
  }

  private record Prepared(CompletionRequest request, CompletionWriter writer) {}

  /** In a method of its own: a variable of a frame that waits would keep the body. */
  private Prepared prepare(Exchange exchange) throws IOException {
    Fields fields = exchange.body();
    CompletionRequest request =
        reader.apply(fields).withTenant(CacheSalt.tenant(exchange.tenant(), fields));
    return new Prepared(request, writer(exchange, fields, formats.apply(fields)));
  }

  static CompletionWriter writer(Exchange exchange, Fields fields, ResponseFormat format) {
    return fields.isTrue("stream")
        ? new StreamingCompletionWriter(exchange, format)
        : new JsonCompletionWriter(exchange, format);
  }
}

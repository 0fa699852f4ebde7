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

  /**
   * What is kept of a request while it waits. It is made in a method of its own, since a variable
   * of a frame that waits would keep the body.
   */
  record Prepared(CompletionRequest request, CompletionWriter writer) {}

  private Prepared prepare(Exchange exchange) throws IOException {
    Fields fields = exchange.body();
    String tenant = CacheSalt.tenant(exchange.tenant(), fields);
    CompletionRequest request = exchange.prepare(() -> reader.apply(fields)).withTenant(tenant);
    return new Prepared(request, writer(exchange, fields, formats.apply(fields)));
  }

  static CompletionWriter writer(Exchange exchange, Fields fields, ResponseFormat format) {
    return fields.isTrue("stream")
        ? new StreamingCompletionWriter(exchange, format)
        : new JsonCompletionWriter(exchange, format);
  }
}

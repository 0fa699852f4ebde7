package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.CacheSalt;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.RequestReader;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.responses.ResponsesFormat;
import dev.kvasir.server.responses.ResponsesReader;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.text.Tokenizer;
import java.io.IOException;

/** Handles the requests of the Responses API. */
final class ResponsesEndpoint implements Endpoint {
  static final String PATH = "/v1/responses";

  private final CompletionRunner runner;
  private final RequestReader requests;
  private final ResponsesReader reader;
  private final ResponseStore store;
  private final Tokenizer tokenizer;
  private final ServerLog log;

  ResponsesEndpoint(
      CompletionRunner runner,
      RequestReader requests,
      ResponseStore store,
      Tokenizer tokenizer,
      ServerLog log) {
    this.runner = runner;
    this.requests = requests;
    this.reader = new ResponsesReader(store);
    this.store = store;
    this.tokenizer = tokenizer;
    this.log = log;
  }

  /** Creates a response. */
  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    Fields fields = exchange.body();
    String tenant = exchange.tenant();
    boolean background = fields.isTrue("background");
    if (background && fields.isTrue("stream")) {
      throw ApiException.invalidField(
          "background", "background and stream are both true; expected at most one of them");
    }
    ResponsesReader.Translated translated = reader.read(fields, tenant);
    CompletionRequest request =
        exchange
            .prepare(() -> requests.chat(translated.chat()))
            .withTenant(CacheSalt.tenant(tenant, fields));
    String model = requests.nameFor(translated.chat());
    ResponsesFormat format = new ResponsesFormat(translated, tenant, model, tokenizer, store);
    if (background) {
      InFlightResponses.InFlight inFlight = runner.hold(); // before this request ends
      Thread.ofVirtual()
          .start(
              () -> {
                try (inFlight) {
                  runInBackground(request, format, tenant);
                }
              });
      exchange.json(200, format.snapshot());
      return;
    }
    try {
      runner.run(request, CompletionEndpoint.writer(exchange, fields, format));
    } finally {
      store.ended(tenant, format.id());
    }
  }

  private void runInBackground(CompletionRequest request, ResponsesFormat format, String tenant) {
    try {
      runner.run(request, new BackgroundWriter(format));
    } catch (CancelledException e) {
      format.build();
    } catch (IOException | InterruptedException | RuntimeException e) {
      log.failure("a response in the background failed", e);
      format.fail(ApiException.internal());
    } finally {
      store.ended(tenant, format.id());
    }
  }

  /** Ends the wait of a request that is cancelled in the queue. */
  private static final class CancelledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CancelledException() {
      super(null, null, false, false);
    }
  }

  /** Collects a response that nobody waits for. */
  private record BackgroundWriter(ResponsesFormat format) implements CompletionWriter {
    @Override
    public void idle(String why) {
      if (format.isCancelled()) {
        throw new CancelledException();
      }
    }

    @Override
    public void begin(int promptTokens, Runnable cancel) {
      format.begin(promptTokens, cancel);
    }

    @Override
    public void accept(CompletionEvent event) {
      format.collect(event);
    }

    @Override
    public void end() {
      format.build();
    }

    @Override
    public void fail(ApiException why) {
      format.fail(why);
    }
  }
}

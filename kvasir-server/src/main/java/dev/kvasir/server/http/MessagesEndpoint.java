package dev.kvasir.server.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.server.anthropic.MessagesError;
import dev.kvasir.server.anthropic.MessagesFormat;
import dev.kvasir.server.anthropic.MessagesReader;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.CacheSalt;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.RequestReader;
import java.io.IOException;
import java.util.List;

/** Handles the requests of the Messages API. */
final class MessagesEndpoint implements Endpoint {
  static final String PATH = "/v1/messages";
  static final String COUNT_PATH = PATH + "/count_tokens";

  private final CompletionRunner runner;
  private final RequestReader requests;

  MessagesEndpoint(CompletionRunner runner, RequestReader requests) {
    this.runner = runner;
    this.requests = requests;
  }

  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    CompletionEndpoint.Prepared prepared = prepare(exchange);
    exchange.forgetBody();
    runner.run(prepared.request(), prepared.writer());
  }

  private CompletionEndpoint.Prepared prepare(Exchange exchange) throws IOException {
    Fields fields = exchange.body();
    List<String> stopSequences = stopSequences(fields);
    Fields chat = MessagesReader.chat(fields);
    String tenant = CacheSalt.tenant(exchange.tenant(), fields);
    CompletionRequest request = exchange.prepare(() -> requests.chat(chat)).withTenant(tenant);
    MessagesFormat format = new MessagesFormat(requests.nameFor(chat), stopSequences);
    return new CompletionEndpoint.Prepared(
        request, CompletionEndpoint.writer(exchange, fields, format));
  }

  private static List<String> stopSequences(Fields fields) {
    return fields.array("stop_sequences").stream()
        .flatMap(list -> list.asList().stream())
        .filter(JsonElement::isJsonPrimitive)
        .map(JsonElement::getAsString)
        .toList();
  }

  @Override
  public JsonObject error(ApiException why) {
    return MessagesError.json(why);
  }

  /** Returns the endpoint that counts the tokens of a prompt. */
  Endpoint counter() {
    return new Endpoint() {
      @Override
      public void handle(Exchange exchange) throws IOException {
        Fields fields = exchange.body();
        CompletionRequest request =
            exchange.prepare(() -> requests.chat(MessagesReader.chat(fields)));
        JsonObject body = new JsonObject();
        body.addProperty("input_tokens", request.prompt().length);
        exchange.json(200, body);
      }

      @Override
      public JsonObject error(ApiException why) {
        return MessagesError.json(why);
      }
    };
  }
}

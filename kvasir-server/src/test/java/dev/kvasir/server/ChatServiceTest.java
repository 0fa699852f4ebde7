package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.watch.ServerLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Completions without HTTP. */
class ChatServiceTest {
  private static final ChatCompletion.Listener NO_LISTENER = new ChatCompletion.Listener() {};

  private static Model model;
  private static ChatService chatService;

  @BeforeAll
  static void open() {
    model = Model.bundled(LoadOptions.defaults().withCacheBytes(64 << 20));
    ServerOptions options =
        ServerOptions.defaults()
            .withCacheSpecs(Stream.of("fp16", "kivi:2").map(CacheSpec::parse).toList());
    chatService = ChatService.of(model, options, new ServerLog(System.err));
  }

  @AfterAll
  static void close() {
    chatService.close();
    model.close();
  }

  private static JsonObject request(String fields) {
    return JsonParser.parseString(
            "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"temperature\": 0, "
                + fields
                + "}")
        .getAsJsonObject();
  }

  @Test
  void streamedPiecesEqualTheResult() {
    List<String> pieces = new ArrayList<>();
    ChatCompletion.Result result =
        chatService
            .chat(request("\"max_tokens\": 12, \"n\": 3"))
            .run(
                new ChatCompletion.Listener() {
                  @Override
                  public void text(String piece) {
                    pieces.add(piece);
                  }
                });
    assertThat(String.join("", pieces)).isEqualTo(result.text()).isNotBlank();
    assertThat(result.generatedTokens()).isEqualTo(12);
    assertThat(result.finishReason()).isEqualTo("length");
    assertThat(result.promptTokens()).isPositive();
    assertThat(result.model()).isEqualTo("kvasir-mini");
  }

  @Test
  void aModelNameSelectsTheCacheSpec() {
    assertThat(chatService.modelNames()).containsExactly("kvasir-mini", "kvasir-mini@kivi:2");
    JsonObject request = request("\"max_tokens\": 1, \"model\": \"kvasir-mini@kivi:2\"");
    assertThat(chatService.chat(request).run(NO_LISTENER).model()).isEqualTo("kvasir-mini@kivi:2");
  }

  @Test
  void aToolCallHasAnId() {
    List<ChatCompletion.ToolCall> calls = new ArrayList<>();
    ChatCompletion.Result result =
        chatService
            .chat(
                request(
                    "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\","
                        + " \"function\": {\"name\": \"now\", \"parameters\": {\"type\":"
                        + " \"object\", \"properties\": {}}}}]"))
            .run(
                new ChatCompletion.Listener() {
                  @Override
                  public void toolCall(ChatCompletion.ToolCall toolCall) {
                    calls.add(toolCall);
                  }
                });
    assertThat(result.finishReason()).isEqualTo("tool_calls");
    assertThat(result.toolCalls()).isEqualTo(calls).hasSize(1);
    assertThat(calls.getFirst().id()).startsWith("call_");
    assertThat(calls.getFirst().arguments()).isEqualTo("{}");
  }

  @Test
  void aCancelledCompletionEmitsNothingMoreAndReleasesItsMemory() throws InterruptedException {
    List<String> pieces = new ArrayList<>();
    ChatCompletion completion = chatService.chat(request("\"max_tokens\": 4000"));
    assertThatThrownBy(
            () ->
                completion.run(
                    new ChatCompletion.Listener() {
                      @Override
                      public void text(String piece) {
                        pieces.add(piece);
                        completion.cancel();
                      }
                    }))
        .isInstanceOf(CancellationException.class);
    assertThat(pieces).hasSize(1);
    assertThat(completion.isCancelled()).isTrue();
    while (chatService.admission().running() > 0) {
      Thread.sleep(5);
    }
    model.prefixes().clear();
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  @Test
  void anInvalidRequestIsRefusedBeforeItRuns() {
    assertThatThrownBy(() -> chatService.chat(request("\"temperature\": -1")))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("temperature is -1");
  }
}

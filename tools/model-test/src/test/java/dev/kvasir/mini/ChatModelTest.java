package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.ChatEvent;
import dev.kvasir.ChatMessage;
import dev.kvasir.ChatModel;
import dev.kvasir.ChatRequest;
import dev.kvasir.ChatResponse;
import dev.kvasir.ChatStream;
import dev.kvasir.KvasirException;
import dev.kvasir.OutputFormat;
import dev.kvasir.Tool;
import dev.kvasir.ToolCall;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Conversations with the bundled model, as an application has them. */
class ChatModelTest {
  private static LoadedModel model;
  private static ChatModel chatModel;

  @BeforeAll
  static void open() {
    model = LoadedModel.bundled(EngineOptions.defaults().withCacheBytes(64 << 20));
    chatModel = ChatModel.builder().model(model).cache("fp16", "kivi:2").maxTokens(100).build();
  }

  @AfterAll
  static void close() {
    chatModel.close();
    model.close();
  }

  private static ChatRequest.Builder hello() {
    return ChatRequest.builder().user("Hello").temperature(0);
  }

  @Test
  void aResponseHasItsTextUsageAndFinishReason() {
    ChatResponse response = chatModel.chat(hello().maxTokens(12).build());
    assertThat(response.text()).isNotBlank();
    assertThat(response.model()).isEqualTo("kvasir-mini");
    assertThat(response.id()).startsWith("chatcmpl-");
    assertThat(response.finishReason()).isEqualTo(ChatResponse.FinishReason.LENGTH);
    assertThat(response.usage().generatedTokens()).isEqualTo(12);
    assertThat(response.usage().totalTokens()).isEqualTo(response.usage().promptTokens() + 12);
    assertThat(response.logprobs()).isEmpty();
  }

  @Test
  void aListenerAStreamAndAPublisherGiveTheSameEvents() {
    ChatRequest request = hello().maxTokens(12).build();
    String whole = chatModel.chat(request).text();
    List<ChatEvent> heard = new ArrayList<>();
    assertThat(chatModel.chat(request, heard::add).text()).isEqualTo(whole);
    List<ChatEvent> read = new ArrayList<>();
    try (ChatStream stream = chatModel.stream(request)) {
      stream.forEach(read::add);
    }
    for (List<ChatEvent> events : List.of(heard, read, published(request, 3))) {
      assertThat(text(events)).isEqualTo(whole);
      assertThat(events.getLast())
          .isInstanceOfSatisfying(
              ChatEvent.Done.class, done -> assertThat(done.response().text()).isEqualTo(whole));
    }
  }

  private static String text(List<ChatEvent> events) {
    StringBuilder text = new StringBuilder();
    for (ChatEvent event : events) {
      if (event instanceof ChatEvent.Text piece) {
        text.append(piece.text());
      }
    }
    return text.toString();
  }

  /** Returns the events of a subscriber that requests a few at a time. */
  private static List<ChatEvent> published(ChatRequest request, int demand) {
    CompletableFuture<List<ChatEvent>> all = new CompletableFuture<>();
    chatModel
        .publisher(request)
        .subscribe(
            new Flow.Subscriber<>() {
              private final List<ChatEvent> events = new ArrayList<>();
              private Flow.Subscription subscription;

              @Override
              public void onSubscribe(Flow.Subscription given) {
                subscription = given;
                subscription.request(demand);
              }

              @Override
              public void onNext(ChatEvent event) {
                events.add(event);
                if (events.size() % demand == 0) {
                  subscription.request(demand);
                }
              }

              @Override
              public void onError(Throwable error) {
                all.completeExceptionally(error);
              }

              @Override
              public void onComplete() {
                all.complete(events);
              }
            });
    return all.join();
  }

  @Test
  void aPublisherReportsAnInvalidRequest() {
    ChatRequest request = hello().cache("kivi:3").build();
    assertThatThrownBy(() -> published(request, 1)).hasCauseInstanceOf(KvasirException.class);
  }

  @Test
  void aNameOrASpecSelectsTheCache() {
    assertThat(chatModel.names()).containsExactly("kvasir-mini", "kvasir-mini@kivi:2");
    ChatRequest.Builder one = hello().maxTokens(1);
    assertThat(chatModel.chat(one.model("kvasir-mini@kivi:2").build()).model())
        .isEqualTo("kvasir-mini@kivi:2");
    assertThat(chatModel.chat(one.cache("fp16").build()).model()).isEqualTo("kvasir-mini");
  }

  @Test
  void toolsAreCalledAndTheirResultsRead() {
    Tool now = new Tool("now", "Tells the time.");
    ChatRequest.Builder conversation = hello().tools(List.of(now));
    ChatResponse response =
        chatModel.chat(conversation.toolChoice(ChatRequest.ToolChoice.REQUIRED).build());
    assertThat(response.finishReason()).isEqualTo(ChatResponse.FinishReason.TOOL_CALLS);
    assertThat(response.toolCalls()).hasSize(1);
    ToolCall call = response.toolCalls().getFirst();
    assertThat(call.id()).startsWith("call_");
    assertThat(call.name()).isEqualTo("now");
    assertThat(call.arguments()).isEqualTo("{}");
    ChatRequest next =
        conversation
            .message(response.message())
            .message(ChatMessage.toolResult(call, "noon"))
            .toolChoice(ChatRequest.ToolChoice.NONE)
            .maxTokens(4)
            .build();
    assertThat(chatModel.chat(next).text()).isNotBlank();
  }

  @Test
  void aFormatConstrainsTheText() {
    String schema =
        "{\"type\": \"object\", \"properties\": {\"wet\": {\"type\": \"boolean\"}},"
            + " \"required\": [\"wet\"], \"additionalProperties\": false}";
    assertThat(answer(OutputFormat.jsonSchema(schema))).matches("\\{\\s*\"wet\"[^}]*}");
    assertThat(answer(OutputFormat.oneOf(List.of("ebb", "flood")))).isIn("ebb", "flood");
  }

  private static String answer(OutputFormat format) {
    return chatModel.chat(hello().format(format).build()).text();
  }

  @Test
  void aStopSequenceEndsTheText() {
    String whole = chatModel.chat(hello().maxTokens(12).build()).text();
    String stop = whole.substring(whole.length() / 2, whole.length() / 2 + 3);
    ChatResponse cut =
        chatModel.chat(hello().maxTokens(12).stopSequences(List.of(stop, "")).build());
    assertThat(cut.text()).isEqualTo(whole.substring(0, whole.indexOf(stop)));
    assertThat(cut.finishReason()).isEqualTo(ChatResponse.FinishReason.STOP);
  }

  @Test
  void logprobsComeWhenRequested() {
    ChatResponse response = chatModel.chat(hello().maxTokens(5).topLogprobs(2).build());
    assertThat(response.logprobs()).hasSize(5).allMatch(token -> token.top().size() == 2);
  }

  @Test
  void aCancelledStreamEndsAndReleasesItsMemory() throws InterruptedException {
    List<ChatEvent> texts = new ArrayList<>();
    ChatStream stream = chatModel.stream(hello().maxTokens(4000).build());
    assertThatThrownBy(
            () ->
                stream.run(
                    event -> {
                      if (event instanceof ChatEvent.Text) {
                        texts.add(event);
                        stream.cancel();
                      }
                    }))
        .isInstanceOf(CancellationException.class);
    assertThat(texts).hasSize(1);
    assertThat(stream.isCancelled()).isTrue();
    assertThatThrownBy(stream::iterator).isInstanceOf(IllegalStateException.class);
    do {
      Thread.sleep(5);
      model.prefixes().clear();
    } while (model.cacheMemory().usedBytes() > 0);
  }

  @Test
  void failuresSayWhatACallerCanDo() {
    assertReason(chatModel, hello().cache("kivi:3").build(), KvasirException.Reason.INVALID_INPUT);
    ChatRequest malformed = hello().tools(List.of(new Tool("f", "", "no schema"))).build();
    assertReason(chatModel, malformed, KvasirException.Reason.INVALID_INPUT);
    ChatModel.Builder few = ChatModel.builder().model(model).contextLimit(16);
    try (ChatModel small = few.limits(1, 1, Duration.ofMinutes(1)).build()) {
      ChatRequest request = ChatRequest.of("The tide comes in. ".repeat(20));
      assertReason(small, request, KvasirException.Reason.TOO_LONG);
    }
    ChatModel closed = few.build();
    closed.close();
    assertReason(closed, ChatRequest.of("a"), KvasirException.Reason.CLOSED);
  }

  private static void assertReason(
      ChatModel asked, ChatRequest request, KvasirException.Reason reason) {
    assertThatThrownBy(() -> asked.chat(request))
        .isInstanceOfSatisfying(
            KvasirException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }
}

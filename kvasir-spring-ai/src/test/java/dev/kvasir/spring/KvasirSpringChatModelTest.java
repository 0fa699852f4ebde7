package dev.kvasir.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.ChatMessage;
import dev.kvasir.ChatModel;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.util.MimeTypeUtils;

/** The model without Spring Boot. */
class KvasirSpringChatModelTest {
  private static final KvasirChatOptions LIKELIEST =
      KvasirChatOptions.builder().temperature(0.0).maxTokens(8).build();

  private static LoadedModel bundled;
  private static ChatModel chatModel;
  private static KvasirSpringChatModel model;

  @BeforeAll
  static void open() {
    bundled = LoadedModel.bundled(EngineOptions.defaults().withCacheBytes(64 << 20));
    chatModel = ChatModel.of(bundled);
    model = new KvasirSpringChatModel(chatModel);
  }

  @AfterAll
  static void close() {
    chatModel.close();
    bundled.close();
  }

  @Test
  void anAnswerHasItsUsageAndFinishReason() {
    ChatResponse response = model.call(new Prompt("Hello", LIKELIEST));
    assertThat(response.getResult().getOutput().getText()).isNotBlank();
    assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
    assertThat(response.getMetadata().getModel()).isEqualTo("kvasir-mini");
    assertThat(response.getMetadata().getUsage().getCompletionTokens()).isEqualTo(8);
    assertThat(response.getMetadata().getUsage().getPromptTokens()).isPositive();
  }

  @Test
  void metersShowMemoryAndThePrefixCache() {
    MeterRegistry registry = new SimpleMeterRegistry();
    new KvasirMeters(chatModel).bindTo(registry);
    double queries = registry.get("kvasir.prefix.queries").functionCounter().count();
    model.call(new Prompt("Hello", LIKELIEST));
    assertThat(registry.get("kvasir.prefix.queries").functionCounter().count() - queries)
        .isEqualTo(1);
    assertThat(registry.get("kvasir.kv.limit").gauge().value()).isEqualTo(64 << 20);
    assertThat(registry.get("kvasir.kv.used").gauge().value()).isPositive();
    assertThat(registry.get("kvasir.requests.waiting").gauge().value()).isZero();
  }

  @Test
  void portableOptionsServeToo() {
    ChatOptions few = ChatOptions.builder().maxTokens(3).temperature(0.0).build();
    ChatResponse response = model.call(new Prompt("Hello", few));
    assertThat(response.getMetadata().getUsage().getCompletionTokens()).isEqualTo(3);
  }

  @Test
  void aStreamEndsWithItsUsage() {
    List<ChatResponse> responses =
        model.stream(new Prompt("Hello", LIKELIEST)).collectList().block();
    StringBuilder text = new StringBuilder();
    responses.forEach(response -> text.append(response.getResult().getOutput().getText()));
    assertThat(text)
        .hasToString(model.call(new Prompt("Hello", LIKELIEST)).getResult().getOutput().getText());
    ChatResponse last = responses.getLast();
    assertThat(last.getMetadata().getUsage().getCompletionTokens()).isEqualTo(8);
    assertThat(last.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
  }

  @Test
  void aCancelledStreamFreesItsMemory() throws InterruptedException {
    KvasirChatOptions many = LIKELIEST.mutate().maxTokens(4000).build();
    assertThat(model.stream(new Prompt("Hello", many)).take(3).collectList().block()).hasSize(3);
    do {
      Thread.sleep(5);
      bundled.prefixes().clear();
    } while (bundled.cacheMemory().usedBytes() > 0);
  }

  @Test
  void callsComeWithTheirFunctions() {
    KvasirChatOptions must =
        LIKELIEST
            .mutate()
            .maxTokens(200)
            .toolChoice("required")
            .toolCallbacks(
                FunctionToolCallback.builder("tide", (Map<String, Object> nothing) -> "low")
                    .inputSchema("{\"type\": \"object\", \"properties\": {}}")
                    .inputType(Map.class)
                    .build())
            .build();
    ChatResponse response = model.call(new Prompt("How high is the water?", must));
    assertThat(response.hasToolCalls()).isTrue();
    AssistantMessage.ToolCall call = response.getResult().getOutput().getToolCalls().getFirst();
    assertThat(call.name()).isEqualTo("tide");
    assertThat(call.arguments()).isEqualTo("{}");
    List<ChatResponse> streamed =
        model.stream(new Prompt("How high is the water?", must)).collectList().block();
    assertThat(streamed).filteredOn(ChatResponse::hasToolCalls).hasSize(1);
  }

  @Test
  void aConversationHoldsResultsAndThoughts() {
    AssistantMessage calling =
        AssistantMessage.builder()
            .content("")
            .properties(Map.of(SpringResponses.REASONING, "I should look."))
            .toolCalls(List.of(new AssistantMessage.ToolCall("1", "function", "tide", "{}")))
            .build();
    Message results =
        ToolResponseMessage.builder()
            .responses(List.of(new ToolResponseMessage.ToolResponse("1", "tide", "low")))
            .build();
    List<Message> messages =
        List.of(new SystemMessage("Be short."), new UserMessage("Hello"), calling, results);
    List<ChatMessage> translated = PromptTranslator.of(new Prompt(messages, LIKELIEST)).messages();
    assertThat(translated.get(2).reasoning()).contains("I should look.");
    assertThat(translated.get(3).toolCallId()).contains("1");
    assertThat(model.call(new Prompt(messages, LIKELIEST)).getResult().getOutput().getText())
        .isNotBlank();
  }

  @Test
  void anAnswerMayBeOneOfSomeTexts() {
    KvasirChatOptions words = LIKELIEST.mutate().answerChoices(List.of("ebb", "flood")).build();
    assertThat(model.call(new Prompt("Which?", words)).getResult().getOutput().getText())
        .isIn("ebb", "flood");
  }

  @Test
  void optionsOfAPromptWinWhereTheyAreGiven() {
    KvasirChatOptions defaults = KvasirChatOptions.builder().kv("fp16").seed(1L).build();
    KvasirChatOptions both =
        defaults.mutate().combineWith(KvasirChatOptions.builder().kv("kivi:2").topK(3)).build();
    assertThat(both)
        .isEqualTo(KvasirChatOptions.builder().kv("kivi:2").seed(1L).topK(3).build())
        .isNotEqualTo(defaults);
  }

  @Test
  void imagesAreRefused() {
    UserMessage image =
        UserMessage.builder()
            .text("What is it?")
            .media(new Media(MimeTypeUtils.IMAGE_PNG, URI.create("http://localhost/a.png")))
            .build();
    assertThatThrownBy(() -> model.call(new Prompt(image)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a message holds media of type image/png, which is not supported; models read text");
  }

  @Test
  void aBadOptionIsReportedToTheCallerOfEither() {
    Prompt cold = new Prompt("Hello", KvasirChatOptions.builder().temperature(-1.0).build());
    assertThatThrownBy(() -> model.call(cold))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("temperature is -1");
    assertThatThrownBy(() -> model.stream(cold).blockLast())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("temperature is -1");
  }

  @Test
  void callsAndStreamsAreObserved() throws InterruptedException {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    ObservationRegistry registry = ObservationRegistry.create();
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<Observation.Context>() {
              @Override
              public void onStop(Observation.Context context) {
                seen.add(context.getContextualName());
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
    KvasirChatOptions named = LIKELIEST.mutate().model("kvasir-mini").build();
    KvasirSpringChatModel observed = new KvasirSpringChatModel(chatModel, named, registry);
    observed.call(new Prompt("Hello"));
    assertThat(seen.take()).isEqualTo("chat kvasir-mini");
    observed.stream(new Prompt("Hello")).blockLast();
    // The observation of a stream ends after its last response.
    assertThat(seen.poll(1, TimeUnit.MINUTES)).isEqualTo("chat kvasir-mini");
  }
}

package dev.kvasir.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests beyond those of the LangChain4j kit. */
class KvasirChatModelTest {
  private static ChatRequest hello(ChatRequestParameters parameters) {
    return ChatRequest.builder().messages(UserMessage.from("Hello")).parameters(parameters).build();
  }

  @Test
  void theBundledModelAnswersAndIsClosed() {
    KvasirChatModel.Builder builder =
        KvasirChatModel.builder().kv("kivi:2", "fp16").kvMemory(64 << 20).contextLimit(512);
    ChatRequestParameters few = ChatRequestParameters.builder().maxOutputTokens(4).build();
    try (KvasirChatModel model = builder.build()) {
      ChatResponse response = model.chat(hello(few));
      assertThat(response.aiMessage().text()).isNotBlank();
      assertThat(response.tokenUsage().outputTokenCount()).isEqualTo(4);
      assertThat(model.chatModel().names()).containsExactly("kvasir-mini", "kvasir-mini@fp16");
    }
  }

  @Test
  void aPrefixOfOneModelIsFoundByTheNext(@TempDir Path folder) {
    ChatRequest request =
        ChatRequest.builder()
            .messages(UserMessage.from("The tide comes in and goes out. ".repeat(40)))
            .maxOutputTokens(4)
            .temperature(0.0)
            .build();
    List<dev.kvasir.ChatResponse> answers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      KvasirChatModel.Builder builder = KvasirChatModel.builder().kv("kivi:2").contextLimit(2048);
      try (KvasirChatModel model = builder.store(folder).build()) {
        answers.add(model.chatModel().chat(RequestTranslator.of(request)));
      }
    }
    assertThat(answers.get(0).usage().cachedTokens()).isZero();
    assertThat(answers.get(1).usage().cachedTokens())
        .isEqualTo(answers.get(0).usage().promptTokens() - 1);
    assertThat(answers.get(1).text()).isEqualTo(answers.get(0).text());
  }

  @Test
  void anInvalidStoreAddressIsRefused() {
    assertThatThrownBy(() -> KvasirChatModel.builder().store("redis://"))
        .isInstanceOf(InvalidInputException.class);
  }

  @Test
  void aSeedGivesTheSameTextAgain() {
    KvasirChatRequestParameters seeded =
        KvasirChatRequestParameters.builder()
            .temperature(1.0)
            .minP(0.0)
            .seed(7L)
            .maxOutputTokens(16)
            .build();
    try (KvasirChatModel model = InProcess.model().build()) {
      String text = model.chat(hello(seeded)).aiMessage().text();
      assertThat(model.chat(hello(seeded)).aiMessage().text()).isEqualTo(text);
    }
  }

  @Test
  void jsonWithoutASchemaIsAnObject() {
    ChatRequestParameters json =
        ChatRequestParameters.builder()
            .responseFormat(ResponseFormat.JSON)
            .maxOutputTokens(60)
            .build();
    try (KvasirChatModel model = InProcess.model().build()) {
      ChatResponse response = model.chat(hello(json));
      if (response.finishReason() == FinishReason.STOP) {
        assertThat(JsonParser.parseString(response.aiMessage().text()).isJsonObject()).isTrue();
      }
      assertThat(response.aiMessage().text()).startsWith("{");
    }
  }

  @Test
  void requestParametersWinOverDefaults() {
    KvasirChatRequestParameters defaults =
        KvasirChatRequestParameters.builder().kv("fp16").seed(1L).temperature(0.5).build();
    KvasirChatRequestParameters merged =
        defaults.overrideWith(KvasirChatRequestParameters.builder().kv("kivi:2").build());
    assertThat(merged.kv()).isEqualTo("kivi:2");
    assertThat(merged.seed()).isEqualTo(1);
    assertThat(merged.temperature()).isEqualTo(0.5);
    assertThat(ChatRequestParameters.builder().topK(3).build().overrideWith(merged))
        .isEqualTo(merged.overrideWith(ChatRequestParameters.builder().topK(3).build()))
        .isNotEqualTo(merged);
  }

  @Test
  void aKindOfCacheThatIsNotThereIsRefused() {
    KvasirChatRequestParameters parameters =
        KvasirChatRequestParameters.builder().kv("commvq:1").build();
    try (KvasirChatModel model = InProcess.model().build()) {
      assertThatThrownBy(() -> model.chat(hello(parameters)))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessage("the kind of cache is 'commvq:1'; this server allows [fp16, kivi:2]");
    }
  }

  @Test
  void aConversationMayHoldThoughtsAndHasToBeOfKnownMessages() {
    AiMessage thought = AiMessage.builder().text("Hi").thinking("A greeting.").build();
    ChatRequestParameters few = ChatRequestParameters.builder().maxOutputTokens(2).build();
    try (KvasirChatModel model = InProcess.model(few)) {
      assertThat(
              model
                  .chat(UserMessage.from("Hello"), thought, UserMessage.from("And?"))
                  .tokenUsage()
                  .outputTokenCount())
          .isEqualTo(2);
      assertThatThrownBy(() -> model.chat(List.of(CustomMessage.from(Map.of("a", 1)))))
          .isInstanceOf(UnsupportedFeatureException.class)
          .hasMessage("messages of type custom are not supported");
    }
  }

  @Test
  void aMissingModelIsNamedByItsPath() {
    assertThatThrownBy(() -> KvasirChatModel.builder().modelPath(Path.of("no.gguf")).build())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("no.gguf");
  }
}

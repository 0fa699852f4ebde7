package dev.kvasir.langchain4j;

import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;

/** Models in this process, with prompted answers. */
final class InProcess {
  private static final KvasirChatRequestParameters LIKELIEST =
      KvasirChatRequestParameters.builder().temperature(0.0).build();

  private InProcess() {}

  static KvasirChatModel.Builder model() {
    return KvasirChatModel.builder()
        .chatModel(Bundled.CHAT_MODEL)
        .defaultRequestParameters(LIKELIEST);
  }

  static KvasirChatModel model(ChatRequestParameters parameters) {
    return model().defaultRequestParameters(LIKELIEST.overrideWith(parameters)).build();
  }

  static KvasirStreamingChatModel.Builder streaming() {
    return KvasirStreamingChatModel.builder()
        .chatModel(Bundled.CHAT_MODEL)
        .defaultRequestParameters(LIKELIEST);
  }

  static KvasirStreamingChatModel streaming(ChatRequestParameters parameters) {
    return streaming().defaultRequestParameters(LIKELIEST.overrideWith(parameters)).build();
  }

  static KvasirStreamingChatModel streaming(ChatModelListener listener, String line) {
    KvasirChatRequestParameters parameters =
        KvasirChatRequestParameters.builder().answerChoices(List.of(line)).build();
    return streaming().defaultRequestParameters(parameters).listeners(List.of(listener)).build();
  }

  static ChatRequest prompted(ChatRequest request) {
    Prompter prompter = new Prompter(request);
    KvasirChatRequestParameters.Builder parameters =
        KvasirChatRequestParameters.builder()
            .overrideWith(request.parameters())
            .toolSpecifications(prompter.tools())
            .toolChoice(prompter.toolChoice())
            .responseFormat(prompter.format());
    prompter.line().ifPresent(line -> parameters.answerChoices(List.of(line)));
    return ChatRequest.builder()
        .messages(prompter.messages())
        .parameters(parameters.build())
        .build();
  }
}

package dev.kvasir.langchain4j;

import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiChatRequestParameters;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.List;
import java.util.Map;

/** Models of LangChain4j's OpenAI client that use a server, with prompted answers. */
final class Served {
  private Served() {}

  static OpenAiChatModel.OpenAiChatModelBuilder model() {
    return OpenAiChatModel.builder()
        .baseUrl(Bundled.url())
        .apiKey("none")
        .modelName(Bundled.NAME)
        .temperature(0.0)
        .maxRetries(0);
  }

  static OpenAiChatModel model(ChatRequestParameters parameters) {
    return OpenAiChatModel.builder()
        .baseUrl(Bundled.url())
        .apiKey("none")
        .defaultRequestParameters(likeliest(parameters))
        .maxRetries(0)
        .build();
  }

  static OpenAiStreamingChatModel.OpenAiStreamingChatModelBuilder streaming() {
    return OpenAiStreamingChatModel.builder()
        .baseUrl(Bundled.url())
        .apiKey("none")
        .modelName(Bundled.NAME)
        .temperature(0.0);
  }

  static OpenAiStreamingChatModel streaming(ChatRequestParameters parameters) {
    return OpenAiStreamingChatModel.builder()
        .baseUrl(Bundled.url())
        .apiKey("none")
        .defaultRequestParameters(likeliest(parameters))
        .build();
  }

  static OpenAiStreamingChatModel streaming(ChatModelListener listener, String line) {
    return streaming()
        .defaultRequestParameters(
            OpenAiChatRequestParameters.builder().customParameters(only(line)).build())
        .listeners(List.of(listener))
        .build();
  }

  private static ChatRequestParameters likeliest(ChatRequestParameters parameters) {
    return OpenAiChatRequestParameters.builder()
        .modelName(Bundled.NAME)
        .temperature(0.0)
        .overrideWith(parameters)
        .build();
  }

  private static Map<String, Object> only(String line) {
    return Map.of("structured_outputs", Map.of("choice", List.of(line)));
  }

  static ChatRequest prompted(ChatRequest request) {
    Prompter prompter = new Prompter(request);
    OpenAiChatRequestParameters.Builder parameters =
        OpenAiChatRequestParameters.builder()
            .overrideWith(request.parameters())
            .toolSpecifications(prompter.tools())
            .toolChoice(prompter.toolChoice())
            .responseFormat(prompter.format());
    prompter.line().ifPresent(line -> parameters.customParameters(only(line)));
    return ChatRequest.builder()
        .messages(prompter.messages())
        .parameters(parameters.build())
        .build();
  }
}

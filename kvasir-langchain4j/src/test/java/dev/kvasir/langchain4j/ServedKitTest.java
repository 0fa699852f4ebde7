package dev.kvasir.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelIT;
import dev.langchain4j.model.chat.common.ChatResponseAndStreamingMetadata;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.openai.OpenAiChatRequestParameters;
import dev.langchain4j.model.openai.OpenAiChatResponseMetadata;
import dev.langchain4j.model.openai.OpenAiTokenUsage;
import dev.langchain4j.model.output.TokenUsage;
import java.util.List;

/** LangChain4j's tests of chat models, with its OpenAI client and a server. */
class ServedKitTest extends AbstractChatModelIT {
  @Override
  protected List<ChatModel> models() {
    return List.of(
        Served.model().build(), Served.model().strictJsonSchema(true).strictTools(true).build());
  }

  @Override
  protected ChatResponseAndStreamingMetadata chat(ChatModel model, ChatRequest request) {
    return super.chat(model, Served.prompted(request));
  }

  @Override
  protected ChatModel createModelWith(ChatRequestParameters parameters) {
    return Served.model(parameters);
  }

  @Override
  protected ChatRequestParameters createIntegrationSpecificParameters(int maxOutputTokens) {
    return OpenAiChatRequestParameters.builder().maxCompletionTokens(maxOutputTokens).build();
  }

  @Override
  protected String customModelName() {
    return Bundled.OTHER_NAME;
  }

  @Override
  protected Class<? extends ChatResponseMetadata> chatResponseMetadataType(ChatModel model) {
    return OpenAiChatResponseMetadata.class;
  }

  @Override
  protected Class<? extends TokenUsage> tokenUsageType(ChatModel model) {
    return OpenAiTokenUsage.class;
  }

  @Override
  protected boolean supportsSingleImageInputAsBase64EncodedString() {
    return false; // models read text
  }

  @Override
  protected boolean supportsSingleImageInputAsPublicURL() {
    return false; // models read text
  }

  @Override
  protected boolean assertExceptionType() {
    return false; // the client sends images, and the server rejects them
  }
}

package dev.kvasir.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelIT;
import dev.langchain4j.model.chat.common.ChatResponseAndStreamingMetadata;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;

/** LangChain4j's tests of chat models, with the bundled model in this process. */
class InProcessKitTest extends AbstractChatModelIT {
  @Override
  protected List<ChatModel> models() {
    return List.of(InProcess.model().build());
  }

  @Override
  protected ChatResponseAndStreamingMetadata chat(ChatModel model, ChatRequest request) {
    return super.chat(model, InProcess.prompted(request));
  }

  @Override
  protected ChatModel createModelWith(ChatRequestParameters parameters) {
    return InProcess.model(parameters);
  }

  @Override
  protected ChatRequestParameters createIntegrationSpecificParameters(int maxOutputTokens) {
    return KvasirChatRequestParameters.builder().maxOutputTokens(maxOutputTokens).build();
  }

  @Override
  protected String customModelName() {
    return Bundled.OTHER_NAME;
  }

  @Override
  protected boolean supportsSingleImageInputAsBase64EncodedString() {
    return false; // models read text
  }

  @Override
  protected boolean supportsSingleImageInputAsPublicURL() {
    return false; // models read text
  }
}

package dev.kvasir.langchain4j;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.atLeast;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelIT;
import dev.langchain4j.model.chat.common.ChatResponseAndStreamingMetadata;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatRequestParameters;
import dev.langchain4j.model.openai.OpenAiChatResponseMetadata;
import dev.langchain4j.model.openai.OpenAiTokenUsage;
import dev.langchain4j.model.output.TokenUsage;
import java.util.List;
import org.mockito.InOrder;

/** LangChain4j's tests of streaming models, with its OpenAI client and a server. */
class ServedStreamingKitTest extends AbstractStreamingChatModelIT {
  @Override
  protected List<StreamingChatModel> models() {
    return List.of(Served.streaming().build());
  }

  @Override
  protected ChatResponseAndStreamingMetadata chat(StreamingChatModel model, ChatRequest request) {
    return super.chat(model, Served.prompted(request));
  }

  @Override
  protected StreamingChatModel createModelWith(ChatRequestParameters parameters) {
    return Served.streaming(parameters);
  }

  @Override
  public StreamingChatModel createModelWith(ChatModelListener listener) {
    return Served.streaming(listener, Prompter.BERLIN);
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
  protected Class<? extends ChatResponseMetadata> chatResponseMetadataType(
      StreamingChatModel model) {
    return OpenAiChatResponseMetadata.class;
  }

  @Override
  protected Class<? extends TokenUsage> tokenUsageType(StreamingChatModel model) {
    return OpenAiTokenUsage.class;
  }

  @Override
  protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder io, String id) {
    verifyCall(handler, io, 0, id, "getWeather");
  }

  @Override
  protected void verifyToolCallbacks(
      StreamingChatResponseHandler handler, InOrder io, String first, String second) {
    verifyCall(handler, io, 0, first, "getWeather");
    verifyCall(handler, io, 1, second, "getTime");
  }

  private static void verifyCall(
      StreamingChatResponseHandler handler, InOrder io, int index, String id, String name) {
    io.verify(handler, atLeast(1))
        .onPartialToolCall(
            argThat(
                call -> call.index() == index && call.id().equals(id) && call.name().equals(name)),
            any());
    io.verify(handler)
        .onCompleteToolCall(
            argThat(
                call ->
                    call.index() == index
                        && call.toolExecutionRequest().id().equals(id)
                        && call.toolExecutionRequest().name().equals(name)));
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

  /** The kit's test takes half a minute; {@link CancelledStreamTest} replaces it. */
  @Override
  protected boolean supportsStreamingCancellation() {
    return false;
  }
}

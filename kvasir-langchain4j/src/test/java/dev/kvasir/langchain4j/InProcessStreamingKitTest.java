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
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import org.mockito.InOrder;

/** LangChain4j's tests of streaming models, with the bundled model in this process. */
class InProcessStreamingKitTest extends AbstractStreamingChatModelIT {
  @Override
  protected List<StreamingChatModel> models() {
    return List.of(InProcess.streaming().build());
  }

  @Override
  protected ChatResponseAndStreamingMetadata chat(StreamingChatModel model, ChatRequest request) {
    return super.chat(model, InProcess.prompted(request));
  }

  @Override
  protected StreamingChatModel createModelWith(ChatRequestParameters parameters) {
    return InProcess.streaming(parameters);
  }

  @Override
  public StreamingChatModel createModelWith(ChatModelListener listener) {
    return InProcess.streaming(listener, Prompter.BERLIN);
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

  /** The kit's test takes half a minute; {@link CancelledStreamTest} replaces it. */
  @Override
  protected boolean supportsStreamingCancellation() {
    return false;
  }
}

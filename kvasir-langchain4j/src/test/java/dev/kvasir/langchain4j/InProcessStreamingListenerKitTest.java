package dev.kvasir.langchain4j;

import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelListenerIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import java.util.List;

/** LangChain4j's listener tests for streams. */
class InProcessStreamingListenerKitTest extends AbstractStreamingChatModelListenerIT {
  private StreamingChatModel model(ChatModelListener listener, double temperature) {
    KvasirChatRequestParameters parameters =
        KvasirChatRequestParameters.builder()
            .temperature(temperature)
            .topP(topP())
            .maxOutputTokens(maxTokens())
            .build();
    return InProcess.streaming()
        .defaultRequestParameters(parameters)
        .listeners(List.of(listener))
        .build();
  }

  @Override
  protected StreamingChatModel createModel(ChatModelListener listener) {
    return model(listener, temperature());
  }

  @Override
  protected String modelName() {
    return Bundled.NAME;
  }

  @Override
  protected StreamingChatModel createFailingModel(ChatModelListener listener) {
    return model(listener, -1);
  }

  @Override
  protected Class<? extends Exception> expectedExceptionClass() {
    return InvalidRequestException.class;
  }
}

package dev.kvasir.langchain4j;

import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelListenerIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import java.util.List;

/** LangChain4j's listener tests. */
class InProcessListenerKitTest extends AbstractChatModelListenerIT {
  private ChatModel model(ChatModelListener listener, double temperature) {
    KvasirChatRequestParameters parameters =
        KvasirChatRequestParameters.builder()
            .temperature(temperature)
            .topP(topP())
            .maxOutputTokens(maxTokens())
            .build();
    return InProcess.model()
        .defaultRequestParameters(parameters)
        .listeners(List.of(listener))
        .build();
  }

  @Override
  protected ChatModel createModel(ChatModelListener listener) {
    return model(listener, temperature());
  }

  @Override
  protected String modelName() {
    return Bundled.NAME;
  }

  @Override
  protected ChatModel createFailingModel(ChatModelListener listener) {
    return model(listener, -1);
  }

  @Override
  protected Class<? extends Exception> expectedExceptionClass() {
    return InvalidRequestException.class;
  }
}

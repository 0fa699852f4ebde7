package dev.kvasir.example;

import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import io.quarkiverse.langchain4j.RegisterAiService;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.context.control.ActivateRequestContext;
import jakarta.inject.Inject;

/** Asks a Kvasir server for a story about its argument. */
@QuarkusMain
public class Ask implements QuarkusApplication {
  /** The interface that Quarkus implements. */
  @RegisterAiService
  interface Storyteller {
    @SystemMessage("You tell stories in plain words.")
    @UserMessage("Tell me of {topic}.")
    String tell(String topic);
  }

  @Inject Storyteller storyteller;

  @Override
  @ActivateRequestContext
  public int run(String... arguments) {
    System.out.println(storyteller.tell(arguments.length > 0 ? arguments[0] : "the sea"));
    return 0;
  }
}

package dev.kvasir.spring;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.function.Supplier;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.observation.ChatModelObservationContext;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.chat.observation.ChatModelObservationDocumentation;
import org.springframework.ai.chat.observation.DefaultChatModelObservationConvention;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/** Micrometer observations of calls, with Spring AI's naming convention. */
final class Observations {
  private static final String PROVIDER = "kvasir";
  private static final ChatModelObservationConvention NAMES =
      new DefaultChatModelObservationConvention();

  private final ObservationRegistry registry;

  Observations(ObservationRegistry registry) {
    this.registry = registry;
  }

  ChatResponse call(Prompt prompt, Supplier<ChatResponse> answer) {
    ChatModelObservationContext context = context(prompt, false);
    return observation(context)
        .observe(
            () -> {
              ChatResponse response = answer.get();
              context.setResponse(response);
              return response;
            });
  }

  Flux<ChatResponse> stream(Prompt prompt, Supplier<Flux<ChatResponse>> answer) {
    return Flux.deferContextual(
        around -> {
          ChatModelObservationContext context = context(prompt, true);
          Observation observation = observation(context);
          around
              .<Observation>getOrEmpty(ObservationThreadLocalAccessor.KEY)
              .ifPresent(observation::parentObservation);
          observation.start();
          Flux<ChatResponse> observed =
              answer
                  .get()
                  .doOnError(observation::error)
                  .doFinally(end -> observation.stop())
                  .contextWrite(
                      within -> within.put(ObservationThreadLocalAccessor.KEY, observation));
          return new MessageAggregator().aggregate(observed, context::setResponse);
        });
  }

  private static ChatModelObservationContext context(Prompt prompt, boolean streaming) {
    return ChatModelObservationContext.builder()
        .prompt(prompt)
        .provider(PROVIDER)
        .streaming(streaming)
        .build();
  }

  private Observation observation(ChatModelObservationContext context) {
    return ChatModelObservationDocumentation.CHAT_MODEL_OPERATION.observation(
        null, NAMES, () -> context, registry);
  }
}

package dev.kvasir.spring;

import dev.kvasir.server.LocalAnswer;
import dev.kvasir.server.LocalAnswers;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CancellationException;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * A chat model of Spring AI that runs within the process. It tells which functions the model wants
 * to call; calling them is up to Spring's {@code ToolCallingAdvisor}. Options of a prompt stand
 * alone, as everywhere in Spring AI: {@code ChatClient} merges them with those of the model.
 */
public final class KvasirSpringChatModel implements ChatModel {
  private static final LocalAnswer.Listener NOBODY = new LocalAnswer.Listener() {};

  private final LocalAnswers answers;
  private final KvasirChatOptions options;
  private final Observations observations;

  /**
   * @param answers stays open when this is no longer used
   * @param options for prompts that have none
   */
  public KvasirSpringChatModel(
      LocalAnswers answers, KvasirChatOptions options, ObservationRegistry registry) {
    this.answers = answers;
    this.options = options;
    this.observations = new Observations(registry);
  }

  public KvasirSpringChatModel(LocalAnswers answers) {
    this(answers, KvasirChatOptions.builder().build(), ObservationRegistry.NOOP);
  }

  @Override
  public KvasirChatOptions getOptions() {
    return options;
  }

  private Prompt withOptions(Prompt prompt) {
    return prompt.getOptions() == null ? prompt.mutate().chatOptions(options).build() : prompt;
  }

  @Override
  public ChatResponse call(Prompt prompt) {
    Prompt whole = withOptions(prompt);
    return observations.call(
        whole, () -> Responses.of(answers.chat(RequestJson.of(whole)).run(NOBODY)));
  }

  @Override
  public Flux<ChatResponse> stream(Prompt prompt) {
    Prompt whole = withOptions(prompt);
    return observations.stream(whole, () -> Flux.create(sink -> stream(whole, sink)));
  }

  private void stream(Prompt prompt, FluxSink<ChatResponse> sink) {
    LocalAnswer answer = answers.chat(RequestJson.of(prompt));
    sink.onDispose(answer::cancel);
    Thread.ofVirtual().name("kvasir-stream").start(() -> stream(answer, sink));
  }

  private static void stream(LocalAnswer answer, FluxSink<ChatResponse> sink) {
    try {
      LocalAnswer.Whole whole = answer.run(new Pieces(answer, sink::next));
      sink.next(Responses.end(whole));
      sink.complete();
    } catch (CancellationException e) {
      // Who cancels a stream hears nothing more of it.
    } catch (RuntimeException e) {
      sink.error(e);
    }
  }
}

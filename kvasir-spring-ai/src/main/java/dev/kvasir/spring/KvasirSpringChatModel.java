package dev.kvasir.spring;

import dev.kvasir.ChatStream;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CancellationException;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * A Spring AI chat model that runs in this process. It returns the tool calls that the model wants;
 * Spring's {@code ToolCallingAdvisor} executes them. As usual in Spring AI, the options of a prompt
 * replace those of the model, and {@code ChatClient} merges them.
 */
public final class KvasirSpringChatModel implements ChatModel {
  private final dev.kvasir.ChatModel chatModel;
  private final KvasirChatOptions options;
  private final Observations observations;

  /**
   * @param chatModel stays open when this model is no longer used
   * @param options for prompts without any
   */
  public KvasirSpringChatModel(
      dev.kvasir.ChatModel chatModel, KvasirChatOptions options, ObservationRegistry registry) {
    this.chatModel = chatModel;
    this.options = options;
    this.observations = new Observations(registry);
  }

  public KvasirSpringChatModel(dev.kvasir.ChatModel chatModel) {
    this(chatModel, KvasirChatOptions.builder().build(), ObservationRegistry.NOOP);
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
        whole, () -> SpringResponses.of(chatModel.chat(PromptTranslator.of(whole))));
  }

  @Override
  public Flux<ChatResponse> stream(Prompt prompt) {
    Prompt whole = withOptions(prompt);
    return observations.stream(whole, () -> Flux.create(sink -> stream(whole, sink)));
  }

  private void stream(Prompt prompt, FluxSink<ChatResponse> sink) {
    ChatStream stream = chatModel.stream(PromptTranslator.of(prompt));
    sink.onDispose(stream::cancel);
    Thread.ofVirtual().name("kvasir-stream").start(() -> stream(stream, sink));
  }

  private static void stream(ChatStream stream, FluxSink<ChatResponse> sink) {
    try {
      stream.run(new ResponseStreamListener(stream, sink::next));
      sink.complete();
    } catch (CancellationException e) {
      // A cancelled stream is not reported any further.
    } catch (RuntimeException e) {
      sink.error(e);
    }
  }
}

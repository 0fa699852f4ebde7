package dev.kvasir.spring;

import dev.kvasir.server.ChatCompletion;
import dev.kvasir.server.ChatService;
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
  private static final ChatCompletion.Listener NO_LISTENER = new ChatCompletion.Listener() {};

  private final ChatService chatService;
  private final KvasirChatOptions options;
  private final Observations observations;

  /**
   * @param chatService stays open when this model is no longer used
   * @param options for prompts without any
   */
  public KvasirSpringChatModel(
      ChatService chatService, KvasirChatOptions options, ObservationRegistry registry) {
    this.chatService = chatService;
    this.options = options;
    this.observations = new Observations(registry);
  }

  public KvasirSpringChatModel(ChatService chatService) {
    this(chatService, KvasirChatOptions.builder().build(), ObservationRegistry.NOOP);
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
        whole, () -> SpringResponses.of(chatService.chat(PromptJson.of(whole)).run(NO_LISTENER)));
  }

  @Override
  public Flux<ChatResponse> stream(Prompt prompt) {
    Prompt whole = withOptions(prompt);
    return observations.stream(whole, () -> Flux.create(sink -> stream(whole, sink)));
  }

  private void stream(Prompt prompt, FluxSink<ChatResponse> sink) {
    ChatCompletion completion = chatService.chat(PromptJson.of(prompt));
    sink.onDispose(completion::cancel);
    Thread.ofVirtual().name("kvasir-stream").start(() -> stream(completion, sink));
  }

  private static void stream(ChatCompletion completion, FluxSink<ChatResponse> sink) {
    try {
      ChatCompletion.Result result =
          completion.run(new ResponseStreamListener(completion, sink::next));
      sink.next(SpringResponses.end(result));
      sink.complete();
    } catch (CancellationException e) {
      // A cancelled stream is not reported any further.
    } catch (RuntimeException e) {
      sink.error(e);
    }
  }
}

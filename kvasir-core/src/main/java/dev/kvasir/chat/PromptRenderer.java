package dev.kvasir.chat;

import dev.kvasir.chat.CompletionRequest.ParserOptions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Renders conversations to the tokens of a prompt. It is thread-safe. */
public final class PromptRenderer {
  private final ServedModel served;
  private volatile ChatTemplate template; // null until the first conversation
  private volatile CallVariables callVariables; // null until the first one with calls

  PromptRenderer(ServedModel served) {
    this.served = served;
  }

  /**
   * A rendered conversation.
   *
   * @param parserOptions how its completion is parsed
   * @param stopSequences texts before which its completion ends, besides those of the request
   */
  public record ChatPrompt(int[] tokens, ParserOptions parserOptions, List<String> stopSequences) {}

  /**
   * @param messages in the form that chat templates use
   * @throws InvalidInputException if the template rejects the messages
   */
  public ChatPrompt render(List<Map<String, Object>> messages, ToolSet tools) {
    return render(messages, tools, Map.of());
  }

  /**
   * @param messages in the form that chat templates use
   * @param extra further variables of the template
   * @throws InvalidInputException if the template rejects the messages
   */
  public ChatPrompt render(
      List<Map<String, Object>> messages, ToolSet tools, Map<String, Object> extra) {
    String text = text(messages, tools, extra);
    boolean startsInReasoning = served.syntax().reasoning().openedBy(text).isPresent();
    return new ChatPrompt(
        encode(text),
        new ParserOptions(Optional.of(served.syntax()), tools.callable(), startsInReasoning),
        // A model without chat turns would write the next one itself.
        served.isChatModel() ? List.of() : List.of("\nUser:"));
  }

  private int[] encode(String text) {
    Tokenizer tokenizer = served.model().tokenizer();
    return served.isChatModel() ? tokenizer.encodePrompt(text) : tokenizer.encode(text);
  }

  private String text(
      List<Map<String, Object>> messages, ToolSet tools, Map<String, Object> extra) {
    boolean templateListsTools = tools.isEmpty() || served.templateSupportsTools();
    List<Map<String, Object>> promptMessages =
        templateListsTools ? messages : tools.withInstructions(messages);
    List<Map<String, Object>> variables =
        tools.isEmpty() || !templateListsTools ? List.of() : tools.variables();
    return template()
        .render(new ChatTemplate.Input(withCalls(promptMessages), variables, true, extra));
  }

  /** Returns the messages with their calls in the form that the template reads. */
  private List<Map<String, Object>> withCalls(List<Map<String, Object>> messages) {
    if (messages.stream().noneMatch(message -> message.containsKey("tool_calls"))) {
      return messages;
    }
    if (callVariables == null) {
      callVariables = CallVariables.of(template(), served.syntax());
    }
    return callVariables.apply(messages);
  }

  /**
   * Returns the template, parsed once. A model with an invalid template can still complete texts.
   */
  private ChatTemplate template() {
    if (template == null) {
      template = served.template();
    }
    return template;
  }
}

package dev.kvasir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A conversation and how to complete it.
 *
 * @param messages at least one
 * @param tools functions that the model may call
 * @param requiredTool the only tool that may be called; only with {@link ToolChoice#REQUIRED}
 * @param parallelToolCalls whether one completion may have several calls
 * @param format what the text is constrained to
 * @param stopSequences texts before which the completion ends
 * @param maxTokens maximum generated tokens; empty for the default of the chat model
 * @param topLogprobs if present, the response has log probabilities, with as many of the most
 *     likely tokens
 * @param model one of {@link ChatModel#names}; empty for the first
 * @param cache a cache spec that the chat model was built with; takes precedence over the model
 * @param conversation key by which cached prefixes of the conversation can be deleted
 * @param templateVariables further variables of the chat template, such as {@code enable_thinking}:
 *     strings, booleans, numbers, lists and maps of these
 * @param tenant owner of the conversation, whose cached prefixes are never used for another; empty
 *     for all
 */
public record ChatRequest(
    List<ChatMessage> messages,
    List<Tool> tools,
    ToolChoice toolChoice,
    Optional<String> requiredTool,
    boolean parallelToolCalls,
    OutputFormat format,
    List<String> stopSequences,
    SamplingOptions sampling,
    OptionalInt maxTokens,
    OptionalInt topLogprobs,
    Optional<String> model,
    Optional<String> cache,
    Optional<String> conversation,
    Map<String, Object> templateVariables,
    String tenant) {
  /** Whether tools are called. */
  public enum ToolChoice {
    AUTO,
    REQUIRED,
    NONE
  }

  public ChatRequest {
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
    stopSequences = stopSequences.stream().filter(text -> !text.isEmpty()).toList();
    if (messages.isEmpty()) {
      throw new IllegalArgumentException("there is no message; expected at least one");
    }
    if (maxTokens.isPresent() && maxTokens.getAsInt() < 1) {
      throw new IllegalArgumentException(
          "maxTokens is %d; expected at least 1".formatted(maxTokens.getAsInt()));
    }
    TokenLogprob.checkTop(topLogprobs);
    templateVariables = Map.copyOf(templateVariables);
    checkRequiredTool(tools, toolChoice, requiredTool);
  }

  private static void checkRequiredTool(
      List<Tool> tools, ToolChoice choice, Optional<String> required) {
    if (required.isEmpty()) {
      return;
    }
    List<String> names = tools.stream().map(Tool::name).toList();
    if (choice != ToolChoice.REQUIRED || !names.contains(required.get())) {
      throw new IllegalArgumentException(
          "requiredTool is '%s' with tool choice %s; expected one of the tools %s and REQUIRED"
              .formatted(required.get(), choice, names));
    }
  }

  /** Returns a request with one message of the user. */
  public static ChatRequest of(String message) {
    return builder().user(message).build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link ChatRequest}. */
  public static final class Builder {
    private final List<ChatMessage> messages = new ArrayList<>();
    private List<Tool> tools = List.of();
    private ToolChoice toolChoice = ToolChoice.AUTO;
    private Optional<String> requiredTool = Optional.empty();
    private boolean parallelToolCalls = true;
    private final Map<String, Object> templateVariables = new HashMap<>();
    private OutputFormat format = OutputFormat.anyText();
    private List<String> stopSequences = List.of();
    private SamplingOptions sampling = SamplingOptions.defaults();
    private OptionalInt maxTokens = OptionalInt.empty();
    private OptionalInt topLogprobs = OptionalInt.empty();
    private Optional<String> model = Optional.empty();
    private Optional<String> cache = Optional.empty();
    private Optional<String> conversation = Optional.empty();
    private String tenant = "";

    private Builder() {}

    /** Adds a message. */
    public Builder message(ChatMessage message) {
      messages.add(message);
      return this;
    }

    /** Adds messages. */
    public Builder messages(List<ChatMessage> more) {
      messages.addAll(more);
      return this;
    }

    /** Adds a message of the system. */
    public Builder system(String text) {
      return message(ChatMessage.system(text));
    }

    /** Adds a message of the user. */
    public Builder user(String text) {
      return message(ChatMessage.user(text));
    }

    public Builder tools(List<Tool> value) {
      tools = value;
      return this;
    }

    public Builder toolChoice(ToolChoice value) {
      toolChoice = value;
      return this;
    }

    /** Requires a call of this tool. */
    public Builder requiredTool(String name) {
      requiredTool = Optional.of(name);
      return toolChoice(ToolChoice.REQUIRED);
    }

    /** Sets whether one completion may have several calls; default true. */
    public Builder parallelToolCalls(boolean value) {
      parallelToolCalls = value;
      return this;
    }

    /** Sets a variable of the chat template. */
    public Builder templateVariable(String name, Object value) {
      templateVariables.put(name, value);
      return this;
    }

    /** Turns reasoning on or off, if the chat template has such a switch. */
    public Builder reasoning(boolean value) {
      // Qwen, GLM and SmolLM templates use the first name, DeepSeek and Granite the second.
      return templateVariable("enable_thinking", value).templateVariable("thinking", value);
    }

    /**
     * Sets how much the model reasons, if the chat template supports it.
     *
     * @param effort such as {@code low}, {@code medium} or {@code high}
     */
    public Builder reasoningEffort(String effort) {
      return templateVariable("reasoning_effort", effort);
    }

    public Builder format(OutputFormat value) {
      format = value;
      return this;
    }

    public Builder stopSequences(List<String> value) {
      stopSequences = value;
      return this;
    }

    /** Sets how tokens are sampled; the default has a new random seed. */
    public Builder sampling(SamplingOptions value) {
      sampling = value;
      return this;
    }

    public Builder temperature(double value) {
      return sampling(sampling.toBuilder().temperature(value).build());
    }

    public Builder seed(long value) {
      return sampling(sampling.toBuilder().seed(value).build());
    }

    public Builder maxTokens(int value) {
      maxTokens = OptionalInt.of(value);
      return this;
    }

    public Builder topLogprobs(int value) {
      topLogprobs = OptionalInt.of(value);
      return this;
    }

    public Builder model(String name) {
      model = Optional.of(name);
      return this;
    }

    public Builder cache(String spec) {
      cache = Optional.of(spec);
      return this;
    }

    public Builder cache(KvCacheSpec spec) {
      return cache(spec.text());
    }

    public Builder conversation(String key) {
      conversation = Optional.of(key).filter(text -> !text.isBlank());
      return this;
    }

    public Builder tenant(String value) {
      tenant = value;
      return this;
    }

    public ChatRequest build() {
      return new ChatRequest(
          messages,
          tools,
          toolChoice,
          requiredTool,
          parallelToolCalls,
          format,
          stopSequences,
          sampling,
          maxTokens,
          topLogprobs,
          model,
          cache,
          conversation,
          templateVariables,
          tenant);
    }
  }
}

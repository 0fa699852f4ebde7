package dev.kvasir.spring;

import java.util.List;
import java.util.Objects;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.DefaultToolCallingChatOptions;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/** Prompt options including those specific to Kvasir. A null value is unset. */
public final class KvasirChatOptions extends DefaultToolCallingChatOptions
    implements StructuredOutputChatOptions {
  private final KvasirOnly own;

  /** The options that Spring AI does not define. */
  private record KvasirOnly(
      String outputSchema,
      Long seed,
      Double minP,
      String kv,
      String conversation,
      String toolChoice,
      List<String> answerChoices) {
    private static final KvasirOnly NONE = new KvasirOnly(null, null, null, null, null, null, null);

    KvasirOnly or(KvasirOnly usual) {
      return new KvasirOnly(
          outputSchema == null ? usual.outputSchema : outputSchema,
          seed == null ? usual.seed : seed,
          minP == null ? usual.minP : minP,
          kv == null ? usual.kv : kv,
          conversation == null ? usual.conversation : conversation,
          toolChoice == null ? usual.toolChoice : toolChoice,
          answerChoices == null ? usual.answerChoices : answerChoices);
    }
  }

  private KvasirChatOptions(Builder builder, ToolCallingChatOptions common) {
    super(
        common.getToolCallbacks(),
        common.getToolContext(),
        common.getModel(),
        common.getFrequencyPenalty(),
        common.getMaxTokens(),
        common.getPresencePenalty(),
        common.getStopSequences(),
        common.getTemperature(),
        common.getTopK(),
        common.getTopP());
    own = builder.own;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns a JSON Schema that the answer is constrained to. */
  @Override
  public String getOutputSchema() {
    return own.outputSchema;
  }

  /** Returns the sampling seed; the same prompt with the same seed gives the same text. */
  public Long seed() {
    return own.seed;
  }

  /** Returns the minimum probability of a token relative to the likeliest. */
  public Double minP() {
    return own.minP;
  }

  /** Returns the kind of cache, one of those that the model was created with. */
  public String kv() {
    return own.kv;
  }

  /** Returns the key that identifies cached data of a conversation, for deleting it. */
  public String conversation() {
    return own.conversation;
  }

  /** Returns {@code auto}, {@code required} or {@code none}. */
  public String toolChoice() {
    return own.toolChoice;
  }

  /** Returns the texts that the answer is constrained to. */
  public List<String> answerChoices() {
    return own.answerChoices;
  }

  @Override
  public Builder mutate() {
    Builder builder = new Builder();
    builder
        .model(getModel())
        .frequencyPenalty(getFrequencyPenalty())
        .maxTokens(getMaxTokens())
        .presencePenalty(getPresencePenalty())
        .stopSequences(getStopSequences())
        .temperature(getTemperature())
        .topK(getTopK())
        .topP(getTopP())
        .toolCallbacks(getToolCallbacks())
        .toolContext(getToolContext());
    builder.own = own;
    return builder;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other) && other instanceof KvasirChatOptions that && own.equals(that.own);
  }

  @Override
  public int hashCode() {
    return Objects.hash(super.hashCode(), own);
  }

  /** Builds {@link KvasirChatOptions}. */
  public static final class Builder extends DefaultToolCallingChatOptions.Builder<Builder>
      implements StructuredOutputChatOptions.Builder<Builder> {
    private KvasirOnly own = KvasirOnly.NONE;

    private Builder() {}

    @Override
    public Builder outputSchema(String schema) {
      own =
          new KvasirOnly(
              schema,
              own.seed,
              own.minP,
              own.kv,
              own.conversation,
              own.toolChoice,
              own.answerChoices);
      return this;
    }

    public Builder seed(Long value) {
      return with(new KvasirOnly(null, value, null, null, null, null, null));
    }

    public Builder minP(Double value) {
      return with(new KvasirOnly(null, null, value, null, null, null, null));
    }

    public Builder kv(String spec) {
      return with(new KvasirOnly(null, null, null, spec, null, null, null));
    }

    public Builder conversation(String key) {
      return with(new KvasirOnly(null, null, null, null, key, null, null));
    }

    public Builder toolChoice(String word) {
      return with(new KvasirOnly(null, null, null, null, null, word, null));
    }

    public Builder answerChoices(List<String> texts) {
      return with(new KvasirOnly(null, null, null, null, null, null, texts));
    }

    private Builder with(KvasirOnly more) {
      own = more.or(own);
      return this;
    }

    @Override
    public Builder combineWith(ChatOptions.Builder<?> other) {
      super.combineWith(other);
      return other instanceof Builder that ? with(that.own) : this;
    }

    @Override
    public KvasirChatOptions build() {
      return new KvasirChatOptions(this, super.build());
    }
  }
}

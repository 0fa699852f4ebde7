package dev.kvasir.langchain4j;

import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import java.util.List;
import java.util.Objects;

/** Request parameters including those specific to Kvasir. A null value is unset. */
public final class KvasirChatRequestParameters extends DefaultChatRequestParameters {
  public static final KvasirChatRequestParameters EMPTY = builder().build();

  private final Long seed;
  private final Double minP;
  private final String kv;
  private final String conversation;
  private final List<String> answerChoices;

  private KvasirChatRequestParameters(Builder builder) {
    super(builder);
    seed = builder.seed;
    minP = builder.minP;
    kv = builder.kv;
    conversation = builder.conversation;
    answerChoices = builder.answerChoices;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns the sampling seed; the same request with the same seed gives the same text. */
  public Long seed() {
    return seed;
  }

  /** Returns the minimum probability of a token relative to the likeliest. */
  public Double minP() {
    return minP;
  }

  /** Returns the kind of cache, one of those that the model was built with. */
  public String kv() {
    return kv;
  }

  /** Returns the key that identifies cached data of a conversation, for deleting it. */
  public String conversation() {
    return conversation;
  }

  /** Returns the texts that the answer is constrained to. */
  public List<String> answerChoices() {
    return answerChoices;
  }

  @Override
  public KvasirChatRequestParameters overrideWith(ChatRequestParameters that) {
    return builder().overrideWith(this).overrideWith(that).build();
  }

  @Override
  public KvasirChatRequestParameters defaultedBy(ChatRequestParameters that) {
    return builder().overrideWith(that).overrideWith(this).build();
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other)
        && other instanceof KvasirChatRequestParameters that
        && own().equals(that.own());
  }

  @Override
  public int hashCode() {
    return Objects.hash(super.hashCode(), own());
  }

  private List<String> own() {
    return List.of(
        String.valueOf(seed),
        String.valueOf(minP),
        String.valueOf(kv),
        String.valueOf(conversation),
        String.valueOf(answerChoices));
  }

  @Override
  public String toString() {
    return "KvasirChatRequestParameters{%s, seed=%s, minP=%s, kv=%s, conversation=%s, answers=%s}"
        .formatted(super.toString(), seed, minP, kv, conversation, answerChoices);
  }

  /** Builds {@link KvasirChatRequestParameters}. */
  public static final class Builder extends DefaultChatRequestParameters.Builder<Builder> {
    private Long seed;
    private Double minP;
    private String kv;
    private String conversation;
    private List<String> answerChoices;

    private Builder() {}

    public Builder seed(Long value) {
      seed = value;
      return this;
    }

    public Builder minP(Double value) {
      minP = value;
      return this;
    }

    public Builder kv(String spec) {
      kv = spec;
      return this;
    }

    public Builder conversation(String key) {
      conversation = key;
      return this;
    }

    public Builder answerChoices(List<String> texts) {
      answerChoices = texts == null ? null : List.copyOf(texts);
      return this;
    }

    @Override
    public Builder overrideWith(ChatRequestParameters parameters) {
      super.overrideWith(parameters);
      if (parameters instanceof KvasirChatRequestParameters own) {
        seed = own.seed == null ? seed : own.seed;
        minP = own.minP == null ? minP : own.minP;
        kv = own.kv == null ? kv : own.kv;
        conversation = own.conversation == null ? conversation : own.conversation;
        answerChoices = own.answerChoices == null ? answerChoices : own.answerChoices;
      }
      return this;
    }

    @Override
    public KvasirChatRequestParameters build() {
      return new KvasirChatRequestParameters(this);
    }
  }
}

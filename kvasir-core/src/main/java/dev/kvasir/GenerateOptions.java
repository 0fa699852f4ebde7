package dev.kvasir;

import java.util.OptionalInt;

/**
 * The length of a generation, the sampling of its tokens and the format of its text.
 *
 * @param maxTokens maximum generated tokens
 * @param format what the text is constrained to
 * @param topLogprobs if present, {@link GenerationListener#logprob} is called for each token, with
 *     as many of the most likely tokens
 */
public record GenerateOptions(
    int maxTokens, SamplingOptions sampling, OutputFormat format, OptionalInt topLogprobs) {
  /** The maximum of {@link #defaults}. */
  public static final int DEFAULT_MAX_TOKENS = 256;

  public GenerateOptions {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "maxTokens is %d; expected at least 1".formatted(maxTokens));
    }
    TokenLogprob.checkTop(topLogprobs);
  }

  /** Returns at most 256 tokens of any text, sampled with a new seed. */
  public static GenerateOptions defaults() {
    return builder().build();
  }

  /** Returns at most 256 tokens of greedy decoding: the same prompt gives the same text. */
  public static GenerateOptions greedy() {
    return builder().sampling(SamplingOptions.greedy()).build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link GenerateOptions}. */
  public static final class Builder {
    private int maxTokens = DEFAULT_MAX_TOKENS;
    private SamplingOptions sampling = SamplingOptions.defaults();
    private OutputFormat format = OutputFormat.anyText();
    private OptionalInt topLogprobs = OptionalInt.empty();

    private Builder() {}

    public Builder maxTokens(int value) {
      maxTokens = value;
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

    public Builder format(OutputFormat value) {
      format = value;
      return this;
    }

    public Builder topLogprobs(int value) {
      topLogprobs = OptionalInt.of(value);
      return this;
    }

    public GenerateOptions build() {
      return new GenerateOptions(maxTokens, sampling, format, topLogprobs);
    }
  }
}

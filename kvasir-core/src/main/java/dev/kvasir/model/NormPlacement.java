package dev.kvasir.model;

import dev.kvasir.model.TensorNames.Part;
import java.util.Optional;

/** Where a layer has norms, and which tensors contain them; an absent part means no norm. */
public enum NormPlacement {
  /** Before attention and feed-forward. */
  PRE(Part.ATTENTION_NORM, null, Part.FEED_FORWARD_NORM, null),

  /** The same, but GGUF names the second one a post-attention norm. */
  PRE_WITH_POST_NAMES(Part.ATTENTION_NORM, null, Part.ATTENTION_OUT_NORM, null),

  /** Before the only part of a layer. */
  ONE(Part.ATTENTION_NORM, null, null, null),

  /** After attention and feed-forward. */
  POST(null, Part.ATTENTION_OUT_NORM, null, Part.FEED_FORWARD_OUT_NORM),

  /** Before and after both. */
  PRE_AND_POST(
      Part.ATTENTION_NORM,
      Part.ATTENTION_OUT_NORM,
      Part.INNER_FEED_FORWARD_NORM,
      Part.FEED_FORWARD_OUT_NORM);

  private final Part attention;
  private final Part attentionOut;
  private final Part feedForward;
  private final Part feedForwardOut;

  NormPlacement(Part attention, Part attentionOut, Part feedForward, Part feedForwardOut) {
    this.attention = attention;
    this.attentionOut = attentionOut;
    this.feedForward = feedForward;
    this.feedForwardOut = feedForwardOut;
  }

  /** Returns the norm before attention. */
  public Optional<Part> attention() {
    return Optional.ofNullable(attention);
  }

  /** Returns the norm of the output of attention. */
  public Optional<Part> attentionOut() {
    return Optional.ofNullable(attentionOut);
  }

  /** Returns the norm before the feed-forward part. */
  public Optional<Part> feedForward() {
    return Optional.ofNullable(feedForward);
  }

  /** Returns the norm of the output of the feed-forward part. */
  public Optional<Part> feedForwardOut() {
    return Optional.ofNullable(feedForwardOut);
  }
}

package dev.kvasir.model;

import dev.kvasir.model.TensorNames.Part;
import java.util.Optional;

/** Where a layer has norms, and the tensors that hold them; a part that is absent is no norm. */
enum NormPlacement {
  /** Of what each part of a layer is given. */
  PRE(Part.ATTENTION_NORM, null, Part.FEED_FORWARD_NORM, null),

  /** The same, but GGUF names the second after what it follows. */
  PRE_WITH_POST_NAMES(Part.ATTENTION_NORM, null, Part.ATTENTION_OUT_NORM, null),

  /** Of what each part gives. */
  POST(null, Part.ATTENTION_OUT_NORM, null, Part.FEED_FORWARD_OUT_NORM),

  /** Of both. */
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

  Optional<Part> attention() {
    return Optional.ofNullable(attention);
  }

  Optional<Part> attentionOut() {
    return Optional.ofNullable(attentionOut);
  }

  Optional<Part> feedForward() {
    return Optional.ofNullable(feedForward);
  }

  Optional<Part> feedForwardOut() {
    return Optional.ofNullable(feedForwardOut);
  }
}

package dev.kvasir.model;

/** The attention of a layer that has only a feed-forward part. */
public record NoAttention() implements AttentionWeights {
  @Override
  public Projection output() {
    throw new IllegalStateException("this layer has no attention");
  }

  @Override
  public long bytes() {
    return 0;
  }
}

package dev.kvasir.kernel;

/**
 * The rotary position embedding of a model, for caches that store keys before rotation. Rotating by
 * {@code a} and then by {@code b} rotates by {@code a + b}. Rotating two vectors alike preserves
 * their product.
 */
public interface Rotation {
  /**
   * Returns the channels of a head ordered by rotary pairs, {@code (x, y) -> (x cos - y sin, y cos
   * + x sin)}: first all x, then all y in the same order. Non-rotary channels are paired too.
   *
   * @param headDim even
   * @return (headDim)
   */
  int[] pairOrder(int headDim);

  /**
   * Rotates vectors of one head each to the same position, in place.
   *
   * @param x (count, headDim), {@code stride} apart
   * @param position negative for the inverse rotation
   */
  void rotate(float[] x, int at, int stride, int count, int position);

  /**
   * Rotates the vectors of consecutive positions in place, vector i by i.
   *
   * @param x (count, headDim), {@code stride} apart
   * @param count at most a page's tokens
   */
  void rotateConsecutive(float[] x, int at, int stride, int count);

  /**
   * Returns the table of {@link #rotateConsecutive} for heads of {@code headDim} channels, computed
   * once.
   */
  RopeTable table(int headDim);

  /** Inverts {@link #rotateConsecutive}. */
  void unrotateConsecutive(float[] x, int at, int stride, int count);
}

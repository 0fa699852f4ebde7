package dev.kvasir.kernel;

/**
 * The rotation by which a model tells keys and queries of different positions apart, for what packs
 * keys as they were before it. Turning by {@code a} and then by {@code b} is turning by {@code a +
 * b}, and turning two vectors alike leaves their product.
 */
public interface Rotation {
  /**
   * The channels of a head by the pairs that turn together, {@code (x, y) -> (x cos - y sin, y cos
   * + x sin)}: first all x, then all y in the same order. Channels that never turn are paired too.
   *
   * @param headDim even
   * @return (headDim)
   */
  int[] pairOrder(int headDim);

  /**
   * Turns vectors of one head each, in place, all to the same position.
   *
   * @param x (count, headDim), {@code stride} apart
   * @param position negative to turn back
   */
  void rotate(float[] x, int at, int stride, int count, int position);

  /**
   * Turns the vectors of consecutive positions, in place: the i-th one by i.
   *
   * @param x (count, headDim), {@code stride} apart
   * @param count a page's tokens at the most
   */
  void rotateConsecutive(float[] x, int at, int stride, int count);

  /** The turns of {@link #rotateConsecutive} for heads of so many channels, made once. */
  RopeTable table(int headDim);

  /** The inverse of {@link #rotateConsecutive}. */
  void unrotateConsecutive(float[] x, int at, int stride, int count);
}

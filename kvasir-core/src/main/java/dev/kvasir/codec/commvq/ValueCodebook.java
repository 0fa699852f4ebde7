package dev.kvasir.codec.commvq;

/**
 * The codebook of the values of some adjacent KV heads. A vector is the concatenation of their
 * values, so a row spans all of them and a code serves all of them. First and second rows are
 * independent.
 *
 * @param heads KV heads of the group
 * @param mean (heads * valueDim)
 */
public record ValueCodebook(int heads, float[] mean, AdditiveStages stages) implements Codebook {
  public ValueCodebook {
    if (heads < 1 || mean.length % heads != 0 || mean.length != stages.length()) {
      throw new IllegalArgumentException(
          "%d KV heads, a mean of %d channels, rows of %d"
              .formatted(heads, mean.length, stages.length()));
    }
  }

  /** Creates the codebook of one KV head. */
  public ValueCodebook(float[] mean, AdditiveStages stages) {
    this(1, mean, stages);
  }

  /** Returns the channels of one head. */
  public int valueDim() {
    return mean.length / heads;
  }

  /**
   * Returns the part of each row that belongs to one head.
   *
   * @param head index in the group
   * @return (2 * stages * ROWS, valueDim)
   */
  float[] rowsOfHead(int head) {
    int valueDim = valueDim();
    int length = mean.length;
    float[] rows = stages.rows();
    float[] out = new float[rows.length / heads];
    for (int row = 0; row < rows.length / length; row++) {
      System.arraycopy(rows, row * length + head * valueDim, out, row * valueDim, valueDim);
    }
    return out;
  }
}

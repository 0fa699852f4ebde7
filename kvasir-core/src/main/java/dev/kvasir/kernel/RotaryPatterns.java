package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * A table of rows that turn with the tokens that pick them, as an operand of {@link
 * PatternKernels#rotatedProducts}, and the scratch memory of those products. A reader holds one and
 * points it anew where its table changes. Not for several threads at once.
 */
public final class RotaryPatterns {
  private MemorySegment rows = MemorySegment.NULL;
  private OffsetAngles offsetAngles;
  private int pairs;
  private float[] scratch = {};
  private final RowBlock scores = new RowBlock();

  /**
   * Points to another table.
   *
   * @param rows (256, 2 * pairs) floats, which vectors read fastest where rows begin with lines
   * @param fan how far pairs turn from one token to the next ones
   * @param pairs a multiple of 16
   */
  public RotaryPatterns set(MemorySegment rows, OffsetAngles offsetAngles, int pairs) {
    this.rows = rows;
    this.offsetAngles = offsetAngles;
    this.pairs = pairs;
    int needed = 2 * (PatternKernels.MAX_ROTATED_QUERIES + PatternKernels.ROTATION_STRIDE) * pairs;
    if (scratch.length < needed) {
      scratch = new float[needed];
    }
    return this;
  }

  public MemorySegment rows() {
    return rows;
  }

  public OffsetAngles offsetAngles() {
    return offsetAngles;
  }

  public int pairs() {
    return pairs;
  }

  /** Floats of a row. */
  public int width() {
    return 2 * pairs;
  }

  /** Room for queries, {@link PatternKernels#MOST_TURNING}, and for rows before they are met. */
  public float[] scratch() {
    return scratch;
  }

  /** An operand for some tokens of the scores. */
  RowBlock scores() {
    return scores;
  }
}

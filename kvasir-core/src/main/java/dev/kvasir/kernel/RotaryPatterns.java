package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * A table of rows that are rotated to the positions of the tokens that select them, with scratch
 * memory: an operand of {@link PatternKernels#rotatedProducts}. A reader keeps one and repoints it
 * when its table changes. Not thread-safe.
 */
public final class RotaryPatterns {
  private MemorySegment rows = MemorySegment.NULL;
  private OffsetAngles offsetAngles;
  private int pairs;
  private float[] scratch = {};
  private final RowBlock scores = new RowBlock();

  /**
   * Points this operand at another table.
   *
   * @param rows (256, 2 * pairs) floats; vector loads are fastest if rows are aligned to cache
   *     lines
   * @param offsetAngles angles of the offsets of tokens within {@link
   *     PatternKernels#ROTATION_STRIDE}
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

  /** Returns the floats per row. */
  public int width() {
    return 2 * pairs;
  }

  /**
   * Returns scratch memory for {@link PatternKernels#MAX_ROTATED_QUERIES} queries, and for rows
   * before they are multiplied.
   */
  public float[] scratch() {
    return scratch;
  }

  /** Returns an operand for the scores of some tokens. */
  RowBlock scores() {
    return scores;
  }
}

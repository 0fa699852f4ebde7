package dev.kvasir.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rotation angles for offsets of 0 to {@link PatternKernels#ROTATION_STRIDE} tokens, and their
 * inverses. Native kernels traverse them once per four tokens, and a vector that crosses a cache
 * line takes twice as long to load. They therefore have an aligned copy outside the heap.
 *
 * @param cosines (ROTATION_STRIDE + 1, pairs)
 * @param sines (ROTATION_STRIDE + 1, pairs)
 * @param negatedSines (ROTATION_STRIDE + 1, pairs)
 * @param aligned (ROTATION_STRIDE + 1, cosines and sines, pairs)
 */
public record OffsetAngles(
    float[] cosines, float[] sines, float[] negatedSines, MemorySegment aligned) {
  /** Bytes of a cache line, and of the widest vector. */
  public static final int LINE = 64;

  /** Takes the angles from the first rows of a table of cosines and one of sines. */
  public static OffsetAngles of(float[] cosines, float[] sines, int pairs) {
    int count = (PatternKernels.ROTATION_STRIDE + 1) * pairs;
    float[] negated = new float[count];
    MemorySegment aligned = Arena.ofAuto().allocate(2L * Float.BYTES * count, LINE);
    for (int i = 0; i < count; i++) {
      long to = 2 * (i - i % pairs) + i % pairs;
      aligned.setAtIndex(ValueLayout.JAVA_FLOAT, to, cosines[i]);
      aligned.setAtIndex(ValueLayout.JAVA_FLOAT, to + pairs, sines[i]);
      negated[i] = -sines[i];
    }
    return new OffsetAngles(cosines, sines, negated, aligned);
  }
}

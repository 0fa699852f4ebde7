package dev.kvasir.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * How far pairs turn in 0 to {@link PatternKernels#FAN} tokens, and back. Native kernels go through
 * them once for four tokens, and a vector that lies on two lines of a cache takes twice the time of
 * one that lies on one: so they have them outside the heap, where vectors begin with lines.
 *
 * @param cosines (FAN + 1, pairs)
 * @param sines (FAN + 1, pairs)
 * @param backSines (FAN + 1, pairs), the sines negated
 * @param lines (FAN + 1, cosines and sines, pairs)
 */
public record OffsetAngles(
    float[] cosines, float[] sines, float[] negatedSines, MemorySegment aligned) {
  /** Bytes of a line, and of the widest vector. */
  public static final int LINE = 64;

  /** Those that such an array of cosines and one of sines begin with. */
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

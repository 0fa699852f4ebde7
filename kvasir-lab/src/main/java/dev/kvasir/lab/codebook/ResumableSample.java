package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.Runner;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A sample whose text is being read. Each segment has a checksum, so that an interrupted reading
 * resumes and segments lost by the disk are read again.
 *
 * <pre>(segments) 64-bit checksums, then the sample</pre>
 */
final class ResumableSample {
  private static final ValueLayout.OfLong CHECKSUM =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SamplePlan plan;
  private final MemorySegment checksums;
  private final VectorSample sample;

  /**
   * @param memory memory for checksums and sample; zero if nothing was read yet
   */
  ResumableSample(MemorySegment memory, CacheShape shape, SamplePlan plan) {
    this.plan = plan;
    this.checksums = memory.asSlice(0, checksumBytes(plan));
    this.sample = new VectorSample(shape, plan.tokens(), memory.asSlice(checksums.byteSize()));
  }

  static ResumableSample at(SampleStorage storage, String name, CacheShape shape, SamplePlan plan) {
    long bytes = checksumBytes(plan) + VectorSample.bytes(shape, plan.tokens());
    return new ResumableSample(storage.allocate(name, bytes), shape, plan);
  }

  private static long checksumBytes(SamplePlan plan) {
    return (long) Long.BYTES * plan.segments().size();
  }

  VectorSample sample() {
    return sample;
  }

  /** Returns whether a segment is present and intact. */
  boolean has(int segment) {
    long checksum = checksums.getAtIndex(CHECKSUM, segment);
    return checksum != 0
        && checksum == sample.at(plan.segments().get(segment).sampledSlots()).checksum();
  }

  void store(int segment, SegmentVectors vectors) {
    sample.put(plan.segments().get(segment).sampledSlots(), vectors);
    checksums.setAtIndex(CHECKSUM, segment, vectors.checksum());
  }

  /**
   * Reads the missing segments.
   *
   * @return false if the listener cancelled the reading; segments read until then are stored
   */
  static boolean readMissing(
      List<ResumableSample> samples, Runner runner, ProgressListener listener) {
    List<SegmentReadingTask> tasks = new ArrayList<>();
    List<Consumer<SegmentVectors>> handlers = new ArrayList<>();
    for (ResumableSample sample : samples) {
      for (int i = 0; i < sample.plan.segments().size(); i++) {
        if (!sample.has(i)) {
          int segment = i;
          tasks.add(sample.plan.task(i));
          handlers.add(vectors -> sample.store(segment, vectors));
        }
      }
    }
    return runner.<SegmentVectors>run(
        tasks, listener, (task, vectors) -> handlers.get(task).accept(vectors));
  }
}

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
 * A sample while its text is read. Each stretch that is there has a mark, so that a reading which
 * was broken off goes on, and what a disk has lost is read again.
 *
 * <pre>(stretches) 64-bit marks, then the sample</pre>
 */
final class ResumableSample {
  private static final ValueLayout.OfLong CHECKSUM =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SamplePlan plan;
  private final MemorySegment checksums;
  private final VectorSample sample;

  /**
   * @param memory for marks and sample; zero where nothing was read yet
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

  /** Whether a stretch is there as it was read. */
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
   * Reads what is missing.
   *
   * @return false where the listener ended it; what was read until then is there
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

package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.WorkListener;
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
final class KeptStretches {
  private static final ValueLayout.OfLong MARK =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SampleReading reading;
  private final MemorySegment marks;
  private final VectorSample sample;

  /**
   * @param memory for marks and sample; zero where nothing was read yet
   */
  KeptStretches(MemorySegment memory, CacheShape shape, SampleReading reading) {
    this.reading = reading;
    this.marks = memory.asSlice(0, bytesOfMarks(reading));
    this.sample = new VectorSample(shape, reading.kept(), memory.asSlice(marks.byteSize()));
  }

  static KeptStretches at(SamplePlace place, String name, CacheShape shape, SampleReading reading) {
    long bytes = bytesOfMarks(reading) + VectorSample.bytes(shape, reading.kept());
    return new KeptStretches(place.room(name, bytes), shape, reading);
  }

  private static long bytesOfMarks(SampleReading reading) {
    return (long) Long.BYTES * reading.stretches().size();
  }

  VectorSample sample() {
    return sample;
  }

  /** Whether a stretch is there as it was read. */
  boolean has(int stretch) {
    long mark = marks.getAtIndex(MARK, stretch);
    return mark != 0 && mark == sample.at(reading.stretches().get(stretch).kept()).mark();
  }

  void keep(int stretch, StretchVectors vectors) {
    sample.put(reading.stretches().get(stretch).kept(), vectors);
    marks.setAtIndex(MARK, stretch, vectors.mark());
  }

  /**
   * Reads what is missing.
   *
   * @return false where the listener ended it; what was read until then is there
   */
  static boolean complete(List<KeptStretches> samples, Runner runner, WorkListener listener) {
    List<StretchReading> pieces = new ArrayList<>();
    List<Consumer<StretchVectors>> keepers = new ArrayList<>();
    for (KeptStretches sample : samples) {
      for (int i = 0; i < sample.reading.stretches().size(); i++) {
        if (!sample.has(i)) {
          int stretch = i;
          pieces.add(sample.reading.piece(i));
          keepers.add(vectors -> sample.keep(stretch, vectors));
        }
      }
    }
    return runner.<StretchVectors>run(
        pieces, listener, (piece, vectors) -> keepers.get(piece).accept(vectors));
  }
}

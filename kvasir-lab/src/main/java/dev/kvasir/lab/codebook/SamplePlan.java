package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.Runner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How a sample of a text is read: in independent segments.
 *
 * @param name name of the text in task names
 * @param tokens tokens of the sample
 */
public record SamplePlan(String name, List<TextSegment> segments, int tokens) {
  /**
   * @param ids tokens of the text
   * @param context length of a segment; the next token starts a new one at position zero
   * @param capacity maximum number of sampled tokens, drawn uniformly from a longer text
   */
  static SamplePlan of(String name, int[] ids, int context, int capacity, long seed) {
    int[] slots = Reservoir.slots(ids.length, capacity, seed);
    List<TextSegment> segments = new ArrayList<>();
    for (int from = 0; from < ids.length; from += context) {
      int to = Math.min(from + context, ids.length);
      segments.add(
          new TextSegment(Arrays.copyOfRange(ids, from, to), Arrays.copyOfRange(slots, from, to)));
    }
    return new SamplePlan(name, segments, Math.min(ids.length, capacity));
  }

  SegmentReadingTask task(int segment) {
    String words = "%s, segment %d of %d".formatted(name, segment + 1, segments.size());
    return new SegmentReadingTask(words, segments.get(segment));
  }

  /** Reads all vectors of a text into memory; incomplete if the listener cancels. */
  public static VectorSample readAll(
      CacheShape shape,
      String name,
      int[] ids,
      int context,
      Runner runner,
      ProgressListener listener) {
    SamplePlan plan = of(name, ids, context, ids.length, 0);
    ResumableSample resumable = ResumableSample.at(SampleStorage.MEMORY, name, shape, plan);
    ResumableSample.readMissing(List.of(resumable), runner, listener);
    return resumable.sample();
  }

  /** Samples tokens of a text uniformly (Vitter's algorithm R). */
  static final class Reservoir {
    private Reservoir() {}

    /**
     * Returns the slot of each token, negative if it is not sampled. Tokens that later ones replace
     * count as not sampled, so a text can be read in any order.
     *
     * @param capacity maximum number of sampled tokens
     */
    static int[] slots(int tokens, int capacity, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      int[] holders = new int[Math.min(tokens, capacity)];
      for (int token = 0; token < tokens; token++) {
        long slot = token < capacity ? token : random.nextLong(token + 1L);
        if (slot < capacity) {
          holders[(int) slot] = token;
        }
      }
      int[] slots = new int[tokens];
      Arrays.fill(slots, -1);
      for (int slot = 0; slot < holders.length; slot++) {
        slots[holders[slot]] = slot;
      }
      return slots;
    }
  }
}

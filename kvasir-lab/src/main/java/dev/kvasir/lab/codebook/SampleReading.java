package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Runner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How a sample of a text is read: in stretches that need each other for nothing.
 *
 * @param name what the text is called in the names of pieces
 * @param kept tokens of the sample
 */
public record SampleReading(String name, List<Stretch> stretches, int kept) {
  /**
   * @param ids tokens of the text
   * @param context where a text is cut: its next token begins anew, at position zero
   * @param capacity tokens that are kept at the most; of a longer text, any is as likely as any
   *     other
   */
  static SampleReading of(String name, int[] ids, int context, int capacity, long seed) {
    int[] slots = Reservoir.slots(ids.length, capacity, seed);
    List<Stretch> stretches = new ArrayList<>();
    for (int from = 0; from < ids.length; from += context) {
      int to = Math.min(from + context, ids.length);
      stretches.add(
          new Stretch(Arrays.copyOfRange(ids, from, to), Arrays.copyOfRange(slots, from, to)));
    }
    return new SampleReading(name, stretches, Math.min(ids.length, capacity));
  }

  StretchReading piece(int stretch) {
    String words = "%s, stretch %d of %d".formatted(name, stretch + 1, stretches.size());
    return new StretchReading(words, stretches.get(stretch));
  }

  /** All vectors of a text, in memory; as far as it was read where the listener asked to stop. */
  public static VectorSample all(
      CacheShape shape, String name, int[] ids, int context, Runner runner, WorkListener listener) {
    SampleReading reading = of(name, ids, context, ids.length, 0);
    KeptStretches kept = KeptStretches.at(SamplePlace.MEMORY, name, shape, reading);
    KeptStretches.complete(List.of(kept), runner, listener);
    return kept.sample();
  }
}

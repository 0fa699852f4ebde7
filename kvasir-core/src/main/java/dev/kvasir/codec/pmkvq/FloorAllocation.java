package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.LayerSensitivities;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * The minimum bits of each layer for the byte budget of a run: either {@code floor} or twice as
 * many, with the smallest total sensitivity (PM-KVQ, equations 6 to 8).
 *
 * <p>Every layer has the same number of values, so widening any of them costs the same bytes. The
 * integer program then has a simple exact solution: as many layers as the budget allows, those
 * whose sensitivity falls most.
 */
final class FloorAllocation {
  private final LayerSensitivities sensitivities;
  private final int floor;

  FloorAllocation(LayerSensitivities sensitivities, int floor) {
    this.sensitivities = sensitivities;
    this.floor = floor;
  }

  /**
   * Returns the minimum bits by layer.
   *
   * @param fits whether a number of wide layers is within the budget; true up to some number
   */
  int[] solve(LongPredicate fits) {
    int[] bits = new int[sensitivities.layers()];
    Arrays.fill(bits, floor);
    int[] byGain =
        IntStream.range(0, bits.length)
            .filter(layer -> gain(layer) > 0)
            .boxed()
            .sorted(Comparator.comparingDouble(this::gain).reversed())
            .mapToInt(Integer::intValue)
            .toArray();
    for (int wide = 0; wide < byGain.length && fits.test(wide + 1L); wide++) {
      bits[byGain[wide]] = 2 * floor;
    }
    return bits;
  }

  /** Returns by how much the sensitivity of a layer falls if its bits are doubled. */
  private double gain(int layer) {
    return sensitivities.of(layer, floor) - sensitivities.of(layer, 2 * floor);
  }
}

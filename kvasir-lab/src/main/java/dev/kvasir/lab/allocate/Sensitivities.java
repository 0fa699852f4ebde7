package dev.kvasir.lab.allocate;

import dev.kvasir.lab.calibrate.CalibrationListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How much the loss may suffer when the keys and values of a layer are coded with some width: to
 * first order, the sum over all their numbers of |gradient * what the codes lose|, a mean over
 * texts (PM-KVQ, equation 5).
 *
 * @param widths bits of a code, ascending
 * @param keys (layers, widths)
 * @param values (layers, widths)
 * @param loss mean cross-entropy of the texts, by which to tell that they suit the model
 */
public record Sensitivities(List<Integer> widths, double[][] keys, double[][] values, double loss) {
  /** What the method shrinks codes to. */
  public static final List<Integer> WIDTHS = List.of(2, 4, 8);

  /**
   * @param firstTokens tokens at the beginning of a text that do not count, because the cache never
   *     codes them; the method keeps 1
   * @return nothing where the listener asked to stop
   */
  public static Optional<Sensitivities> measure(
      TracedDecoder decoder,
      CalibrationTexts texts,
      List<Integer> widths,
      int firstTokens,
      CalibrationListener listener) {
    SensitivityTally tally =
        new SensitivityTally(decoder.config(), texts, widths, firstTokens, listener);
    for (int[] sample : texts.samples()) {
      if (!tally.add(decoder.gradients(sample, tally))) {
        return Optional.empty();
      }
    }
    return Optional.of(tally.mean());
  }

  public int layers() {
    return keys.length;
  }

  public double of(int layer, int bits) {
    int width = widths.indexOf(bits);
    return keys[layer][width] + values[layer][width];
  }

  /** Those at some width and above. */
  public Sensitivities atLeast(int bits) {
    int from = (int) widths.stream().filter(width -> width < bits).count();
    return new Sensitivities(
        widths.subList(from, widths.size()), without(keys, from), without(values, from), loss);
  }

  private static double[][] without(double[][] layers, int widths) {
    return Arrays.stream(layers)
        .map(layer -> Arrays.copyOfRange(layer, widths, layer.length))
        .toArray(double[][]::new);
  }
}

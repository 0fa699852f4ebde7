package dev.kvasir.lab.allocate;

import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.work.Runner;
import java.io.Serializable;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * How much the loss may suffer when the keys and values of a layer are coded with some width: to
 * first order, the sum over all their numbers of |gradient * what the codes lose|, a mean over
 * texts (PM-KVQ, equation 5).
 *
 * @param widths bits of a code, ascending
 * @param keys (layers, widths)
 * @param values (layers, widths)
 * @param loss mean cross-entropy of the texts, by which to tell that they suit the model; not a
 *     number where it was not kept
 */
public record Sensitivities(List<Integer> widths, double[][] keys, double[][] values, double loss)
    implements Serializable {
  /** What the method shrinks codes to. */
  public static final List<Integer> WIDTHS = LayerSensitivities.WIDTHS;

  /**
   * @return nothing where the listener asked to stop
   */
  public static Optional<Sensitivities> measure(
      Runner runner,
      CalibrationTexts texts,
      SensitivitySettings settings,
      ProgressListener listener) {
    return measure(runner, texts, settings, Map.of(), (number, text) -> {}, listener);
  }

  /**
   * The same, after a run that was ended.
   *
   * @param known of some texts by their number, as {@code keep} got them
   * @param keep takes those of each further text when it is finished
   */
  public static Optional<Sensitivities> measure(
      Runner runner,
      CalibrationTexts texts,
      SensitivitySettings settings,
      Map<Integer, Sensitivities> known,
      BiConsumer<Integer, Sensitivities> save,
      ProgressListener listener) {
    SortedMap<Integer, Sensitivities> found = new TreeMap<>(known);
    List<SensitivityTask> missing =
        IntStream.range(0, texts.samples().size())
            .filter(number -> !known.containsKey(number))
            .mapToObj(number -> new SensitivityTask(number, texts.samples().get(number), settings))
            .toList();
    boolean complete =
        runner.<Sensitivities>run(
            missing,
            listener,
            (index, text) -> {
              int number = missing.get(index).number();
              found.put(number, text);
              save.accept(number, text);
            });
    return complete ? Optional.of(mean(List.copyOf(found.values()))) : Optional.empty();
  }

  private static Sensitivities mean(List<Sensitivities> texts) {
    Sensitivities first = texts.getFirst();
    double[][] keys = new double[first.layers()][first.widths.size()];
    double[][] values = new double[first.layers()][first.widths.size()];
    for (Sensitivities text : texts) {
      for (int layer = 0; layer < keys.length; layer++) {
        for (int width = 0; width < keys[layer].length; width++) {
          keys[layer][width] += text.keys[layer][width] / texts.size();
          values[layer][width] += text.values[layer][width] / texts.size();
        }
      }
    }
    double loss = texts.stream().mapToDouble(Sensitivities::loss).average().orElseThrow();
    return new Sensitivities(first.widths, keys, values, loss);
  }

  /** For a file, without the loss. // (keys and values, layers, widths) */
  public float[] floats() {
    FloatBuffer all = FloatBuffer.allocate(2 * layers() * widths.size());
    for (double[][] side : List.of(keys, values)) {
      for (double[] layer : side) {
        for (double value : layer) {
          all.put((float) value);
        }
      }
    }
    return all.array();
  }

  /**
   * From a file.
   *
   * @param floats (keys and values, layers, widths)
   */
  public static Sensitivities of(List<Integer> widths, int layers, float[] floats) {
    FloatBuffer all = FloatBuffer.wrap(floats);
    double[][][] sides = new double[2][layers][widths.size()];
    for (double[][] side : sides) {
      for (double[] layer : side) {
        Arrays.setAll(layer, width -> all.get());
      }
    }
    return new Sensitivities(widths, sides[0], sides[1], Double.NaN);
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

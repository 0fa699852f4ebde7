package dev.kvasir.lab.allocate;

import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkCancelledException;
import java.io.Serializable;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * The estimated effect on the loss of quantizing a layer's keys and values to a bit width: to first
 * order, the sum over all elements of |gradient * quantization error|, averaged over texts (PM-KVQ,
 * equation 5).
 *
 * @param widths bits of a code, ascending
 * @param keys (layers, widths)
 * @param values (layers, widths)
 * @param loss mean cross-entropy of the texts, which shows whether they suit the model; NaN if not
 *     saved
 */
public record Sensitivities(List<Integer> widths, double[][] keys, double[][] values, double loss)
    implements Serializable {
  /** The widths that PM-KVQ requantizes to. */
  public static final List<Integer> WIDTHS = LayerSensitivities.WIDTHS;

  /**
   * @return empty if the listener cancelled the measurement
   */
  public static Optional<Sensitivities> measure(
      Runner runner,
      CalibrationTexts texts,
      SensitivitySettings settings,
      ProgressListener listener) {
    return measure(runner, texts, settings, Map.of(), (number, text) -> {}, listener);
  }

  /**
   * Resumes a measurement.
   *
   * @param known sensitivities of some texts by number, as received by {@code save}
   * @param save receives the sensitivities of each further text
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

  /** Returns the values for a file, without the loss. // (keys and values, layers, widths) */
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
   * Returns the sensitivities from a file.
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

  /** Returns the sensitivities for a minimum width. */
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

  /**
   * Measures the sensitivities of one text.
   *
   * @param number number of the text, from 0 on
   */
  private record SensitivityTask(int number, int[] text, SensitivitySettings settings)
      implements TracedTask<Sensitivities> {
    @Override
    public String name() {
      return "gradients of sample %d".formatted(number + 1);
    }

    @Override
    public double cost() {
      return text.length;
    }

    @Override
    public Sensitivities run(TracedDecoder decoder, ProgressListener listener) {
      SensitivityTally tally = new SensitivityTally(decoder.config(), settings, listener);
      OptionalDouble loss = decoder.gradients(text, tally);
      return tally.result(loss.orElseThrow(WorkCancelledException::new));
    }
  }
}

package dev.kvasir.lab.allocate;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrate.TokenCodes;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.model.ModelConfig;
import java.util.Arrays;
import java.util.List;

/** Adds up the sensitivities of one text. */
final class SensitivityTally implements TextVisitor {
  /** A layer on the way back is computed anew, and then both of its operands get gradients. */
  private static final int BACKWARD_WORK = 3;

  private final ModelConfig config;
  private final List<Integer> widths;
  private final int firstTokens;
  private final WorkListener listener;
  private final double[][] keys; // (layers, widths)
  private final double[][] values; // (layers, widths)
  private final double workInAll;
  private double work;

  /**
   * @param text which of the texts it is
   */
  SensitivityTally(
      ModelConfig config,
      CalibrationTexts texts,
      int text,
      List<Integer> widths,
      int firstTokens,
      WorkListener listener) {
    this.config = config;
    this.widths = List.copyOf(widths);
    this.firstTokens = firstTokens;
    this.listener = listener;
    this.keys = new double[config.layers()][widths.size()];
    this.values = new double[config.layers()][widths.size()];
    double textWork = (double) config.layers() * (1 + BACKWARD_WORK);
    this.workInAll = texts.samples().size() * textWork;
    this.work = text * textWork;
  }

  @Override
  public boolean forward(LayerVectors vectors) {
    return goOn(1);
  }

  @Override
  public boolean backward(LayerGradients gradients) {
    for (int width = 0; width < widths.size(); width++) {
      TokenCodes codes = new TokenCodes(config.headDim(), widths.get(width));
      int layer = gradients.layer();
      keys[layer][width] += lost(gradients.keys(), gradients.keyGradients(), codes);
      values[layer][width] += lost(gradients.values(), gradients.valueGradients(), codes);
    }
    return goOn(BACKWARD_WORK);
  }

  private boolean goOn(double done) {
    work += done;
    listener.progress(work, workInAll);
    return !listener.stopped();
  }

  private double lost(float[] x, float[] gradients, TokenCodes codes) {
    int length = config.kvHeads() * config.headDim();
    float[] decoded = new float[length];
    double sum = 0;
    for (int at = firstTokens * length; at < x.length; at += length) {
      codes.roundTrip(x, at, config.kvHeads(), decoded, 0);
      for (int i = 0; i < length; i++) {
        sum += Math.abs((double) gradients[at + i] * (x[at + i] - decoded[i]));
      }
    }
    return sum;
  }

  /** As a file keeps it, so that a run that goes on after another finds the same. */
  Sensitivities result(double loss) {
    return new Sensitivities(widths, rounded(keys), rounded(values), loss);
  }

  private static double[][] rounded(double[][] sums) {
    return Arrays.stream(sums)
        .map(layer -> Arrays.stream(layer).map(sum -> (float) sum).toArray())
        .toArray(double[][]::new);
  }
}

package dev.kvasir.lab.allocate;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.PerChannelQuantizer;
import dev.kvasir.lab.calibrate.PerTokenQuantizer;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.model.ModelConfig;
import java.util.Arrays;
import java.util.List;

/** Accumulates the sensitivities of one text. */
final class SensitivityTally implements TextVisitor {
  /** The backward pass recomputes a layer and computes gradients of both operands. */
  private static final int BACKWARD_COST = 3;

  private final ModelConfig config;
  private final List<Integer> widths;
  private final int firstTokens;
  private final KeyScaleAxis keyScales;
  private final ProgressListener listener;
  private final double[][] keys; // (layers, widths)
  private final double[][] values; // (layers, widths)
  private final double totalCost;
  private double cost;

  SensitivityTally(ModelConfig config, SensitivitySettings settings, ProgressListener listener) {
    this.config = config;
    this.widths = settings.widths();
    this.firstTokens = settings.firstTokens();
    this.keyScales = settings.keyScales();
    this.listener = listener;
    this.keys = new double[config.layers()][widths.size()];
    this.values = new double[config.layers()][widths.size()];
    this.totalCost = (double) config.layers() * (1 + BACKWARD_COST);
  }

  @Override
  public boolean forward(LayerVectors vectors) {
    return report(1);
  }

  @Override
  public boolean backward(LayerGradients gradients) {
    int layer = gradients.layer();
    float[] decoded = new float[gradients.keys().length];
    for (int width = 0; width < widths.size(); width++) {
      roundTripKeys(gradients.keys(), widths.get(width), decoded);
      keys[layer][width] += weightedError(gradients.keys(), gradients.keyGradients(), decoded);
      roundTripTokens(gradients.values(), widths.get(width), decoded);
      values[layer][width] +=
          weightedError(gradients.values(), gradients.valueGradients(), decoded);
    }
    return report(BACKWARD_COST);
  }

  private boolean report(double done) {
    cost += done;
    listener.progress(cost, totalCost);
    return !listener.isCancelled();
  }

  private void roundTripKeys(float[] x, int bits, float[] decoded) {
    switch (keyScales) {
      case TOKEN -> roundTripTokens(x, bits, decoded);
      case CHANNEL -> {
        int at = firstTokens * vector();
        new PerChannelQuantizer(KeyScaleAxis.tokensPerGroup(config.headDim()), bits)
            .roundTrip(x, at, (x.length - at) / vector(), vector(), decoded);
      }
    }
  }

  private void roundTripTokens(float[] x, int bits, float[] decoded) {
    int at = firstTokens * vector();
    int heads = (x.length - at) / config.headDim();
    new PerTokenQuantizer(config.headDim(), bits).roundTrip(x, at, heads, decoded, at);
  }

  private int vector() {
    return config.kvHeads() * config.headDim();
  }

  private double weightedError(float[] x, float[] gradients, float[] decoded) {
    double sum = 0;
    for (int i = firstTokens * vector(); i < x.length; i++) {
      sum += Math.abs((double) gradients[i] * (x[i] - decoded[i]));
    }
    return sum;
  }

  /** Returns the result rounded as in a file, so that a resumed run gets the same values. */
  Sensitivities result(double loss) {
    return new Sensitivities(widths, rounded(keys), rounded(values), loss);
  }

  private static double[][] rounded(double[][] sums) {
    return Arrays.stream(sums)
        .map(layer -> Arrays.stream(layer).map(sum -> (float) sum).toArray())
        .toArray(double[][]::new);
  }
}

package dev.kvasir.lab.smooth;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.PerTokenQuantizer;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.model.ModelConfig;
import java.util.List;

/**
 * Quantizes the keys of every layer with all smoothing strengths and measures the attention error.
 */
final class StrengthTrials implements TextVisitor {
  private final ModelConfig config;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final KeyAbsMax absMax;
  private final List<Integer> bits;
  private final SmoothingSettings settings;
  private final ProgressListener listener;
  private final double[][] errors; // (layers, 1 + STRENGTHS), the first without smoothing
  private final double[] outputs; // (layers), squares of attention outputs

  StrengthTrials(
      TracedDecoder decoder,
      KeyAbsMax absMax,
      List<Integer> bits,
      SmoothingSettings settings,
      ProgressListener listener) {
    this.config = decoder.config();
    this.kernels = decoder.kernels();
    this.workers = decoder.workers();
    this.absMax = absMax;
    this.bits = List.copyOf(bits);
    this.settings = settings;
    this.listener = listener;
    this.errors = new double[config.layers()][1 + KeySmoothing.STRENGTHS];
    this.outputs = new double[config.layers()];
  }

  static double strength(int index) {
    return (double) index / KeySmoothing.STRENGTHS;
  }

  @Override
  public boolean forward(LayerVectors vectors) {
    int layer = vectors.layer();
    AttentionProbe probe =
        new AttentionProbe(
            vectors,
            config.attentionShape(),
            config.windows().of(layer),
            settings,
            kernels,
            workers);
    outputs[layer] += probe.outputSquares();
    for (int i = 0; i <= KeySmoothing.STRENGTHS; i++) {
      if (listener.isCancelled()) {
        return false;
      }
      float[] factors = absMax.factors(config, settings.sharing(), layer, strength(i));
      errors[layer][i] += probe.errorSquares(quantized(vectors, factors, bits.get(layer)));
    }
    listener.progress(layer + 1, config.layers());
    return !listener.isCancelled();
  }

  /** Divides keys, quantizes them, and multiplies them again instead of the queries. */
  private float[] quantized(LayerVectors vectors, float[] factors, int width) {
    PerTokenQuantizer quantizer = new PerTokenQuantizer(config.headDim(), width);
    float[] quantized = new float[vectors.keys().length];
    workers.run(
        (token, worker) -> {
          int at = token * factors.length;
          for (int i = 0; i < factors.length; i++) {
            quantized[at + i] = vectors.keys()[at + i] / factors[i];
          }
          quantizer.roundTrip(quantized, at, config.kvHeads(), quantized, at);
          kernels.rows().multiply(quantized, at, factors, 0, quantized, at, factors.length);
        },
        vectors.tokens());
    return quantized;
  }

  StrengthErrors sums() {
    return new StrengthErrors(errors, outputs);
  }
}

package dev.kvasir.lab.smooth;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.TokenCodes;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.model.ModelConfig;
import java.util.List;

/** Codes the keys of every layer with factors of all strengths to see what attention loses. */
final class StrengthTrials implements TextVisitor {
  private final ModelConfig config;
  private final Kernels kernels;
  private final Crew crew;
  private final KeyReach reach;
  private final List<Integer> bits;
  private final SmoothingSettings settings;
  private final WorkListener listener;
  private final double[][] errors; // (layers, 1 + STRENGTHS), the first without smoothing
  private final double[] outputs; // (layers), squares of what attention gives

  StrengthTrials(
      TracedDecoder decoder,
      KeyReach reach,
      List<Integer> bits,
      SmoothingSettings settings,
      WorkListener listener) {
    this.config = decoder.config();
    this.kernels = decoder.kernels();
    this.crew = decoder.crew();
    this.reach = reach;
    this.bits = List.copyOf(bits);
    this.settings = settings;
    this.listener = listener;
    this.errors = new double[config.layers()][1 + Smoothing.STRENGTHS];
    this.outputs = new double[config.layers()];
  }

  static double strength(int index) {
    return (double) index / Smoothing.STRENGTHS;
  }

  @Override
  public boolean forward(LayerVectors vectors) {
    int layer = vectors.layer();
    AttentionProbe probe =
        new AttentionProbe(
            vectors, config.attentionShape(), config.windows().of(layer), settings, kernels, crew);
    outputs[layer] += probe.outputSquares();
    for (int i = 0; i <= Smoothing.STRENGTHS; i++) {
      if (listener.stopped()) {
        return false;
      }
      float[] factors = reach.factors(config, settings.sharing(), layer, strength(i));
      errors[layer][i] += probe.errorSquares(coded(vectors, factors, bits.get(layer)));
    }
    listener.progress(layer + 1, config.layers());
    return !listener.stopped();
  }

  /** Keys divided, coded, and multiplied again in place of the queries. */
  private float[] coded(LayerVectors vectors, float[] factors, int width) {
    TokenCodes codes = new TokenCodes(config.headDim(), width);
    float[] coded = new float[vectors.keys().length];
    crew.run(
        (token, worker) -> {
          int at = token * factors.length;
          for (int i = 0; i < factors.length; i++) {
            coded[at + i] = vectors.keys()[at + i] / factors[i];
          }
          codes.roundTrip(coded, at, config.kvHeads(), coded, at);
          kernels.rows().multiply(coded, at, factors, 0, coded, at, factors.length);
        },
        vectors.tokens());
    return coded;
  }

  TrialSums sums() {
    return new TrialSums(errors, outputs);
  }
}

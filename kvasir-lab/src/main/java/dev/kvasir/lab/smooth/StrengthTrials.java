package dev.kvasir.lab.smooth;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.calibrate.TokenCodes;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.smooth.Smoothing.LayerTrial;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/** Codes the keys of every layer with factors of all strengths and adds up what attention loses. */
final class StrengthTrials implements TextVisitor {
  private final ModelConfig config;
  private final Kernels kernels;
  private final Crew crew;
  private final KeyReach reach;
  private final List<Integer> bits;
  private final SmoothingSettings settings;
  private final SearchProgress progress;
  private final double[][] errors; // (layers, 1 + STRENGTHS), the first without smoothing
  private final double[] outputs; // (layers), squares of what attention gives

  StrengthTrials(
      TracedDecoder decoder,
      KeyReach reach,
      List<Integer> bits,
      SmoothingSettings settings,
      SearchProgress progress) {
    this.config = decoder.config();
    this.kernels = decoder.kernels();
    this.crew = decoder.crew();
    this.reach = reach;
    this.bits = List.copyOf(bits);
    this.settings = settings;
    this.progress = progress;
    this.errors = new double[config.layers()][1 + Smoothing.STRENGTHS];
    this.outputs = new double[config.layers()];
  }

  private static double strength(int index) {
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
      if (progress.stopped()) {
        return false;
      }
      float[] factors = reach.factors(layer, strength(i));
      errors[layer][i] += probe.errorSquares(coded(vectors, factors, bits.get(layer)));
    }
    return progress.triedLayer();
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

  Smoothing result() {
    float[][][] factors = new float[config.layers()][][];
    List<LayerTrial> layers = new ArrayList<>();
    for (int layer = 0; layer < factors.length; layer++) {
      int best = best(errors[layer]);
      factors[layer] = reach.factorsByHead(layer, strength(best));
      layers.add(
          new LayerTrial(
              bits.get(layer),
              strength(best),
              Math.sqrt(errors[layer][best] / outputs[layer]),
              Math.sqrt(errors[layer][0] / outputs[layer])));
    }
    return new Smoothing(factors, List.copyOf(layers));
  }

  /** Of the strengths above zero; the weaker of two that do alike. */
  private static int best(double[] ofLayer) {
    int best = 1;
    for (int i = 2; i < ofLayer.length; i++) {
      best = ofLayer[i] < ofLayer[best] ? i : best;
    }
    return best;
  }
}

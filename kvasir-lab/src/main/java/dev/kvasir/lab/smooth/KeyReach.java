package dev.kvasir.lab.smooth;

import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.model.ModelConfig;
import java.util.Arrays;

/** The largest magnitude of every key channel over all texts. */
final class KeyReach implements TextVisitor {
  private final ModelConfig config;
  private final FactorSharing sharing;
  private final int sinks;
  private final SearchProgress progress;
  private final float[][] largest; // by layer: (kvHeads, headDim)

  KeyReach(ModelConfig config, SmoothingSettings settings, SearchProgress progress) {
    this.config = config;
    this.sharing = settings.sharing();
    this.sinks = settings.sinks();
    this.progress = progress;
    this.largest = new float[config.layers()][config.kvHeads() * config.headDim()];
  }

  /**
   * Tokens that are never coded do not count: the first one's keys are often far from all others.
   */
  @Override
  public boolean forward(LayerVectors vectors) {
    float[] most = largest[vectors.layer()];
    for (int at = sinks * most.length; at < vectors.keys().length; at += most.length) {
      for (int i = 0; i < most.length; i++) {
        most[i] = Math.max(most[i], Math.abs(vectors.keys()[at + i]));
      }
    }
    return progress.readLayer();
  }

  /**
   * The factors of a strength. A channel that is always zero has the factor 1.
   *
   * @return (kvHeads, headDim)
   */
  float[] factors(int layer, double strength) {
    float[] factors = new float[largest[layer].length];
    for (int i = 0; i < factors.length; i++) {
      int head = i - i % config.headDim();
      int other = sharing == FactorSharing.TIED ? head + partner(i - head) : i;
      float reach = Math.max(largest[layer][i], largest[layer][other]);
      factors[i] = reach == 0 ? 1 : (float) Math.pow(reach, strength);
    }
    return factors;
  }

  /** The same by head: (kvHeads, headDim). */
  float[][] factorsByHead(int layer, double strength) {
    float[] flat = factors(layer, strength);
    float[][] byHead = new float[config.kvHeads()][];
    for (int head = 0; head < byHead.length; head++) {
      int at = head * config.headDim();
      byHead[head] = Arrays.copyOfRange(flat, at, at + config.headDim());
    }
    return byHead;
  }

  /** The channel that turns together with this one; itself where it does not turn. */
  private int partner(int channel) {
    int turned = config.rope().dimensions();
    if (channel >= turned) {
      return channel;
    }
    return switch (config.rope().layout()) {
      case HALVES -> (channel + turned / 2) % turned;
      case NEIGHBOURS -> channel ^ 1;
    };
  }
}

package dev.kvasir.lab.smooth;

import dev.kvasir.model.ModelConfig;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;

/**
 * The largest magnitude of every key channel.
 *
 * @param largest by layer: (kvHeads, headDim)
 */
record KeyAbsMax(float[][] largest) implements Serializable {
  static KeyAbsMax none(ModelConfig config) {
    return new KeyAbsMax(new float[config.layers()][config.kvHeads() * config.headDim()]);
  }

  /** Returns the maximum over all texts. */
  static KeyAbsMax of(List<KeyAbsMax> texts) {
    int layers = texts.getFirst().largest.length;
    KeyAbsMax all = new KeyAbsMax(new float[layers][texts.getFirst().largest[0].length]);
    for (KeyAbsMax text : texts) {
      for (int layer = 0; layer < layers; layer++) {
        all.add(layer, text.largest[layer], 0);
      }
    }
    return all;
  }

  /**
   * @param keys (tokens, kvHeads, headDim)
   * @param sinks leading tokens that do not count
   */
  void add(int layer, float[] keys, int sinks) {
    float[] most = largest[layer];
    for (int at = sinks * most.length; at < keys.length; at += most.length) {
      for (int i = 0; i < most.length; i++) {
        most[i] = Math.max(most[i], Math.abs(keys[at + i]));
      }
    }
  }

  /**
   * Returns the factors for a smoothing strength. A channel that is always zero has the factor 1.
   *
   * @return (kvHeads, headDim)
   */
  float[] factors(ModelConfig config, FactorSharing sharing, int layer, double strength) {
    float[] factors = new float[largest[layer].length];
    for (int i = 0; i < factors.length; i++) {
      int head = i - i % config.headDim();
      int other = sharing == FactorSharing.TIED ? head + rotaryPartner(config, i - head) : i;
      float absMax = Math.max(largest[layer][i], largest[layer][other]);
      factors[i] = absMax == 0 ? 1 : (float) Math.pow(absMax, strength);
    }
    return factors;
  }

  /** Returns the factors by head: (kvHeads, headDim). */
  float[][] factorsByHead(ModelConfig config, FactorSharing sharing, int layer, double strength) {
    float[] flat = factors(config, sharing, layer, strength);
    float[][] byHead = new float[config.kvHeads()][];
    for (int head = 0; head < byHead.length; head++) {
      int at = head * config.headDim();
      byHead[head] = Arrays.copyOfRange(flat, at, at + config.headDim());
    }
    return byHead;
  }

  /** Returns the other channel of the rotary pair, or the channel itself if it is not rotated. */
  private static int rotaryPartner(ModelConfig config, int channel) {
    int rotaryDims = config.rope().dimensions();
    if (channel >= rotaryDims) {
      return channel;
    }
    return switch (config.rope().layout()) {
      case HALVES -> (channel + rotaryDims / 2) % rotaryDims;
      case INTERLEAVED -> channel ^ 1;
    };
  }
}

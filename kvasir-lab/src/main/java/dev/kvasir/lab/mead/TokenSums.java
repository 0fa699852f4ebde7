package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.LayerAttended;
import dev.kvasir.lab.gradient.TextVisitor;

/** Adds up, by token id, what the layers attend with, and what attention gives on the average. */
final class TokenSums {
  private static final int NEAR = Page.TOKENS;

  private final HeadVectors vectors;
  private final int kvHeads;
  private final float[][] sums; // by layer: (vocabulary, width)
  private final int[] counts; // by id; late sinks of single layers are left in
  private final double[][] updates; // by layer: (hidden)
  private long tokens;

  TokenSums(HeadVectors vectors, int layers, int kvHeads, int vocabulary, int hidden) {
    this.vectors = vectors;
    this.kvHeads = kvHeads;
    this.sums = new float[layers][vocabulary * vectors.width()];
    this.counts = new int[vocabulary];
    this.updates = new double[layers][hidden];
  }

  /** Counts a text of which what is seen is added. */
  void count(int[] text) {
    for (int token = PageRanks.SINKS; token < text.length; token++) {
      counts[text[token]]++;
    }
    tokens += text.length - PageRanks.SINKS;
  }

  int vocabulary() {
    return counts.length;
  }

  int count(int id) {
    return counts[id];
  }

  long tokens() {
    return tokens;
  }

  /** (vocabulary, width) */
  float[] sums(int layer) {
    return sums[layer];
  }

  /** The mean over all tokens. // (width) */
  float[] mean(int layer) {
    int width = vectors.width();
    double[] mean = new double[width];
    for (int i = 0; i < sums[layer].length; i++) {
      mean[i % width] += sums[layer][i];
    }
    float[] floats = new float[width];
    for (int i = 0; i < width; i++) {
      floats[i] = (float) (mean[i] / tokens);
    }
    return floats;
  }

  /** What attention gives a token on the average. // (layers, hidden) */
  float[][] meanUpdates() {
    float[][] means = new float[updates.length][];
    for (int layer = 0; layer < means.length; layer++) {
      means[layer] = new float[updates[layer].length];
      for (int i = 0; i < means[layer].length; i++) {
        means[layer][i] = (float) (updates[layer][i] / tokens);
      }
    }
    return means;
  }

  /**
   * Follows a text.
   *
   * @param adds whether its tokens count for the sums
   * @param kept keeps what is seen; null where nothing is kept
   */
  TextVisitor visitor(int[] text, boolean adds, KeptText kept, WorkListener listener) {
    return new TextVisitor() {
      @Override
      public boolean attended(LayerAttended attended) {
        int layer = attended.layer();
        float[] joined = vectors.joined(attended.vectors().keys(), attended.vectors().values());
        if (adds) {
          add(layer, text, joined, attended.update());
        }
        if (kept != null) {
          float[] received = attended.received(NEAR);
          kept.keep(layer, joined, received, new PageRanks(received, kvHeads));
        }
        return !listener.stopped();
      }
    };
  }

  private void add(int layer, int[] text, float[] joined, float[] update) {
    int width = vectors.width();
    int hidden = updates[layer].length;
    for (int token = PageRanks.SINKS; token < text.length; token++) {
      int to = text[token] * width;
      for (int i = 0; i < width; i++) {
        sums[layer][to + i] += joined[token * width + i];
      }
      for (int i = 0; i < hidden; i++) {
        updates[layer][i] += update[token * hidden + i];
      }
    }
  }
}

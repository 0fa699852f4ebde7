package dev.kvasir.lab.mead;

/** Sums keys, values and attention outputs over texts, by layer and token id. */
final class TokenSums {
  private final TokenKvLayout layout;
  private final float[][] sums; // by layer: (vocabulary, width)
  private final int[] counts; // by id; late sinks of single layers are included
  private final double[][] updates; // by layer: (hidden)
  private long tokens;

  TokenSums(TokenKvLayout layout, int layers, int vocabulary, int hidden) {
    this.layout = layout;
    this.sums = new float[layers][vocabulary * layout.width()];
    this.counts = new int[vocabulary];
    this.updates = new double[layers][hidden];
  }

  /** Counts the tokens of a text that {@link #add} adds. */
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

  /** Returns the sums of a layer. // (vocabulary, width) */
  float[] sums(int layer) {
    return sums[layer];
  }

  /** Returns the mean over all tokens. // (width) */
  float[] mean(int layer) {
    int width = layout.width();
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

  /** Returns the mean attention output of a token. // (layers, hidden) */
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

  void add(TextStatistics text) {
    int width = layout.width();
    for (int layer = 0; layer < sums.length; layer++) {
      float[] from = text.sums()[layer];
      for (int i = 0; i < from.length; i++) {
        sums[layer][text.ids()[i / width] * width + i % width] += from[i];
      }
      for (int i = 0; i < updates[layer].length; i++) {
        updates[layer][i] += text.updates()[layer][i];
      }
    }
  }
}

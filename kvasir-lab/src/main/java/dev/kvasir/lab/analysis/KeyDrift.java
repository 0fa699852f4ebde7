package dev.kvasir.lab.analysis;

/**
 * How far keys move along a text (PatternKV, Figures 3a, 8, 10 and 11): the mean cosine similarity
 * of keys of one head at a distance. The papers show the same as t-SNE maps.
 */
public final class KeyDrift {
  private KeyDrift() {}

  /** Returns the mean over heads and tokens of a layer; {@code NaN} for a shorter text. */
  public static double similarity(KeysAndValues text, int layer, int distance) {
    int width = text.shape().keyDim();
    double sum = 0;
    int count = 0;
    for (int head = 0; head < text.shape().kvHeads(); head++) {
      float[] keys = text.keys()[layer][head];
      for (int token = 0; token + distance < text.tokens(); token++) {
        sum += cosine(keys, token * width, (token + distance) * width, width);
        count++;
      }
    }
    return count == 0 ? Double.NaN : sum / count;
  }

  static double cosine(float[] x, int left, int right, int width) {
    double product = 0;
    double ofLeft = 0;
    double ofRight = 0;
    for (int i = 0; i < width; i++) {
      product += (double) x[left + i] * x[right + i];
      ofLeft += (double) x[left + i] * x[left + i];
      ofRight += (double) x[right + i] * x[right + i];
    }
    return ofLeft == 0 || ofRight == 0 ? 0 : product / Math.sqrt(ofLeft * ofRight);
  }
}

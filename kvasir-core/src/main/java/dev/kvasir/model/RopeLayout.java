package dev.kvasir.model;

/** Which two channels of a head RoPE rotates together. */
public enum RopeLayout {
  /** Channel i with channel i + dimensions / 2, as in Hugging Face files. */
  HALVES {
    @Override
    int first(int pair, int pairs) {
      return pair;
    }

    @Override
    int second(int pair, int pairs) {
      return pair + pairs;
    }

    @Override
    void rotate(float[] x, int at, int pairs, float[] cosines, float[] sines, int anglesAt) {
      for (int i = 0; i < pairs; i++) {
        float cos = cosines[anglesAt + i];
        float sin = sines[anglesAt + i];
        float a = x[at + i];
        float b = x[at + i + pairs];
        x[at + i] = a * cos - b * sin;
        x[at + i + pairs] = b * cos + a * sin;
      }
    }
  },

  /** Channel 2i with channel 2i + 1, as in Llama's original files and their GGUF conversions. */
  INTERLEAVED {
    @Override
    int first(int pair, int pairs) {
      return 2 * pair;
    }

    @Override
    int second(int pair, int pairs) {
      return 2 * pair + 1;
    }

    @Override
    void rotate(float[] x, int at, int pairs, float[] cosines, float[] sines, int anglesAt) {
      for (int i = 0; i < pairs; i++) {
        float cos = cosines[anglesAt + i];
        float sin = sines[anglesAt + i];
        float a = x[at + 2 * i];
        float b = x[at + 2 * i + 1];
        x[at + 2 * i] = a * cos - b * sin;
        x[at + 2 * i + 1] = b * cos + a * sin;
      }
    }
  };

  /** Returns the first channel of a pair, the cosine component. */
  abstract int first(int pair, int pairs);

  /** Returns the second channel of a pair, the sine component. */
  abstract int second(int pair, int pairs);

  /** Rotates one head in place; channels beyond {@code 2 * pairs} are unchanged. */
  abstract void rotate(float[] x, int at, int pairs, float[] cosines, float[] sines, int anglesAt);
}

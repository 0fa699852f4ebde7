package dev.kvasir.model;

/** Which two channels of a head a rotary embedding turns together. */
public enum RopeLayout {
  /** Channel i with channel i + dimensions / 2, as Hugging Face stores heads. */
  HALVES {
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

    @Override
    int channel(int pair, boolean second, int pairs) {
      return second ? pair + pairs : pair;
    }
  },

  /** Channel 2i with channel 2i + 1, as Llama's own files and their GGUF conversions store them. */
  NEIGHBOURS {
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

    @Override
    int channel(int pair, boolean second, int pairs) {
      return 2 * pair + (second ? 1 : 0);
    }
  };

  /** The channel of a head that comes first, or second, in a pair. */
  abstract int channel(int pair, boolean second, int pairs);

  /** Rotates one head in place; channels beyond {@code 2 * pairs} stay as they are. */
  abstract void rotate(float[] x, int at, int pairs, float[] cosines, float[] sines, int anglesAt);
}

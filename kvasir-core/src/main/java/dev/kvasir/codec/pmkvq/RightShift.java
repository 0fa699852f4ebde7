package dev.kvasir.codec.pmkvq;

/**
 * How a code of 2b bits becomes a code of b bits. The stored scale is a third of the range ({@link
 * dev.kvasir.page.ScaleSpan}), so a shift that preserves the range leaves scales unchanged.
 */
public enum RightShift {
  /**
   * Rounds to the nearest b-bit code, {@code round(q / (2^b + 1))}, without a division. Scale and
   * zero are the same as for direct quantization to b bits.
   */
  EQUIVALENT {
    @Override
    int shift(int code, int bits) {
      long factor = (1L << 2 * bits) - (1L << bits) + 1;
      return (int) (factor * (code + (1L << bits - 1)) >> 3 * bits);
    }
  },

  /** Keeps the upper bits and the range: numbers decrease by half a step on average. */
  DIRECT {
    @Override
    int shift(int code, int bits) {
      return code >> bits;
    }
  },

  /**
   * Keeps the upper bits, which stand for the mean of the codes that share them. The step grows by
   * 2^b only, and the zero increases by half of the step's growth. The ends of the range are lost.
   */
  MODIFIED {
    @Override
    int shift(int code, int bits) {
      return code >> bits;
    }

    @Override
    float scaleFactor(int bits) {
      return (1 << bits) / (1f + (1 << bits));
    }

    @Override
    float zeroSteps(int bits) {
      return ((1 << bits) - 1) / 2f;
    }
  };

  /**
   * Returns the b-bit code.
   *
   * @param code of {@code 2 * bits} bits
   */
  abstract int shift(int code, int bits);

  /** Returns the factor of stored scales for a shift to {@code bits} bits. */
  float scaleFactor(int bits) {
    return 1;
  }

  /** Returns the increase of the zero, in steps of the wider code. */
  float zeroSteps(int bits) {
    return 0;
  }

  /** Returns whether scales and zeros remain bit-identical. */
  boolean keepsScales() {
    return this != MODIFIED;
  }
}

package dev.kvasir.codec.pmkvq;

/**
 * How a code of 2b bits becomes one of b bits. What is stored as a scale is a third of the range
 * ({@link dev.kvasir.page.ScaleSpan}), so a shift that keeps the range leaves scales as they are.
 */
public enum RightShift {
  /**
   * The nearest of the narrower codes: {@code round(q / (2^b + 1))}, without a division. Scale and
   * zero then are what they would have been had the numbers been coded to b bits.
   */
  EQUIVALENT {
    @Override
    int shift(int code, int bits) {
      long factor = (1L << 2 * bits) - (1L << bits) + 1;
      return (int) (factor * (code + (1L << bits - 1)) >> 3 * bits);
    }
  },

  /** The upper bits, with the range kept: numbers move down by half a step on the average. */
  DIRECT {
    @Override
    int shift(int code, int bits) {
      return code >> bits;
    }
  },

  /**
   * The upper bits, each standing for the mean of the codes that share them: the step grows by 2^b
   * only, and the zero moves up by half of what the step grew. The ends of the range are lost.
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
   * The narrower code.
   *
   * @param code of {@code 2 * bits} bits
   */
  abstract int shift(int code, int bits);

  /** What stored scales are multiplied by on the way to {@code bits} bits. */
  float scaleFactor(int bits) {
    return 1;
  }

  /** By how many steps of the wider code the zero moves up. */
  float zeroSteps(int bits) {
    return 0;
  }

  /** Whether scales and zeros stay as they are, bit by bit. */
  boolean keepsScales() {
    return this != MODIFIED;
  }
}

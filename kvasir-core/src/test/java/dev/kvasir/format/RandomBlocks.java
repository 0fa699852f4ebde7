package dev.kvasir.format;

/**
 * Blocks of random bytes, identical to those of tools/type-goldens for the same seed. The highest
 * exponent bit of every float scale is cleared, so all are finite.
 */
final class RandomBlocks {
  private RandomBlocks() {}

  static byte[] of(GgmlType type, int blocks, long seed) {
    byte[] bytes = new byte[blocks * type.blockBytes()];
    long state = seed;
    for (int i = 0; i < bytes.length; i++) {
      state = state * 6364136223846793005L + 1442695040888963407L;
      bytes[i] = (byte) (state >>> 56);
    }
    for (int at = 0; at < bytes.length; at += type.blockBytes()) {
      for (int exponent : exponents(type)) {
        bytes[at + exponent] &= (byte) 0xBF;
      }
    }
    return bytes;
  }

  /** Returns the bytes of a block with the upper bits of an exponent. */
  private static int[] exponents(GgmlType type) {
    return switch (type) {
      case F32, F16, BF16 -> throw new IllegalArgumentException(type + " has no blocks");
      case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {1, 3};
      case Q2_K -> new int[] {81, 83};
      case Q3_K -> new int[] {109};
      case Q6_K -> new int[] {209};
      case Q8_K -> new int[] {3};
      case IQ1_M -> new int[] {55};
      case TQ1_0 -> new int[] {53};
      case TQ2_0 -> new int[] {65};
      case MXFP4, NVFP4 -> new int[] {0};
      case Q4_0,
          Q5_0,
          Q8_0,
          IQ2_XXS,
          IQ2_XS,
          IQ2_S,
          IQ3_XXS,
          IQ3_S,
          IQ1_S,
          IQ4_NL,
          IQ4_XS,
          Q1_0,
          Q2_0 ->
          new int[] {1};
    };
  }
}

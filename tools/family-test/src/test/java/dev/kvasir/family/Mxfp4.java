package dev.kvasir.family;

import java.util.Arrays;

/** MXFP4: 4-bit floats with a shared power of two for 32 values. */
final class Mxfp4 {
  /** The type number in GGUF. */
  static final int GGUF_TYPE = 39;

  private static final int BLOCK = 32;
  private static final int BIAS = 127;
  private static final int SIGN = 8;
  private static final float[] SIZES = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

  private Mxfp4() {}

  /**
   * Rounds to MXFP4 values, so that three standard deviations of 1 fill the range; every other
   * block is half as large.
   *
   * @param exponent the power of two of the larger blocks
   */
  static TensorValues round(TensorValues values, int exponent) {
    float[] rounded = new float[values.floats().length];
    for (int i = 0; i < rounded.length; i++) {
      int power = exponent - i / BLOCK % 2;
      rounded[i] = Math.scalb(nearest(3 * values.floats()[i]), power);
    }
    return new TensorValues(rounded, values.shape());
  }

  private static float nearest(float value) {
    float best = 0;
    for (float size : SIZES) {
      best = Math.abs(size - Math.abs(value)) < Math.abs(best - Math.abs(value)) ? size : best;
    }
    return Math.copySign(best, value);
  }

  /**
   * Returns GGUF blocks: the power of two, then values 0 to 15 in low and 16 to 31 in high bits.
   */
  static byte[] gguf(TensorValues values) {
    int blocks = values.floats().length / BLOCK;
    byte[] bytes = new byte[blocks * (1 + BLOCK / 2)];
    for (int block = 0; block < blocks; block++) {
      int power = power(values, block);
      int at = block * (1 + BLOCK / 2);
      bytes[at] = (byte) (power + BIAS);
      for (int i = 0; i < BLOCK / 2; i++) {
        int low = code(values, block, i, power);
        bytes[at + 1 + i] = (byte) (low | code(values, block, BLOCK / 2 + i, power) << 4);
      }
    }
    return bytes;
  }

  /** Returns the codes of a folder, two neighbours in a byte. */
  static FolderTensor folderBlocks(TensorValues values) {
    byte[] bytes = new byte[values.floats().length / 2];
    for (int i = 0; i < bytes.length; i++) {
      int block = 2 * i / BLOCK;
      int power = power(values, block);
      int low = code(values, block, 2 * i % BLOCK, power);
      bytes[i] = (byte) (low | code(values, block, 2 * i % BLOCK + 1, power) << 4);
    }
    int[] shape = values.shape();
    return new FolderTensor("U8", bytes, shape[0], shape[1], shape[2] / BLOCK, BLOCK / 2);
  }

  /** Returns the powers of two, which a folder has in a separate tensor. */
  static FolderTensor folderScales(TensorValues values) {
    byte[] bytes = new byte[values.floats().length / BLOCK];
    for (int block = 0; block < bytes.length; block++) {
      bytes[block] = (byte) (power(values, block) + BIAS);
    }
    int[] shape = values.shape();
    return new FolderTensor("U8", bytes, shape[0], shape[1], shape[2] / BLOCK);
  }

  /** Returns the smallest power with which the block's largest value is representable. */
  private static int power(TensorValues values, int block) {
    float largest = Float.MIN_NORMAL;
    for (int i = 0; i < BLOCK; i++) {
      largest = Math.max(largest, Math.abs(values.floats()[block * BLOCK + i]));
    }
    int power = -BIAS;
    while (Math.scalb(SIZES[SIZES.length - 1], power) < largest) {
      power++;
    }
    return power;
  }

  private static int code(TensorValues values, int block, int index, int power) {
    float value = values.floats()[block * BLOCK + index];
    int size = Arrays.binarySearch(SIZES, Math.scalb(Math.abs(value), -power));
    if (size < 0) {
      throw new IllegalArgumentException(value + " is no MXFP4 of power " + power);
    }
    return value < 0 ? size | SIGN : size;
  }
}

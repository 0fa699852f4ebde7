package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.memory.Fp16Page;

/** The groups of numbers that share a scale in pages of uniform codes. */
public final class ScaleGroups {
  private ScaleGroups() {}

  /** Returns the shared memory for rows of halves, with a scale and a zero for every 32. */
  public static int sharedBytes(int headDim) {
    return Fp16Page.TOKENS * headDim * 2 + Fp16Page.TOKENS * headDim / 32 * 4;
  }

  /**
   * @param keyGroup tokens that share a scale of a key channel
   * @param valueGroup channels that share a scale of a value
   * @throws DeviceException if there are no kernels for the groups
   */
  public static void check(int keyGroup, int valueGroup) {
    if (keyGroup != 32 && keyGroup != 64 && keyGroup != 2 * Fp16Page.TOKENS) {
      throw new DeviceException(
          "keys cannot share a scale by %d tokens on a device; expected 32, 64 or 128"
              .formatted(keyGroup));
    }
    if (valueGroup < 32 || valueGroup % 32 != 0) {
      throw new DeviceException(
          "values cannot share a scale by %d channels on a device; expected a multiple of 32"
              .formatted(valueGroup));
    }
  }
}

package dev.kvasir.methods.vqllm;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeTable;

/**
 * RoPE table for keys in group order. If all groups are full, both channels of a pair are in one
 * group, half a group apart. A group is thus {@link #PAIRS} first channels followed by as many
 * second ones.
 *
 * <pre>
 * channel of a member  member * groups + group; the other of its pair is groups * PAIRS further on
 * pair of a member     the same number, below groups * PAIRS
 * </pre>
 *
 * @param cosines (tokens, groups, PAIRS), like the sines
 */
record GroupedRopeTable(float[] cosines, float[] sines, int groups) {
  private static final int PAIRS = ChannelGroups.CHANNELS / 2;

  static boolean isApplicable(ChannelGroups keys) {
    return keys.strided() && keys.width() == keys.dim();
  }

  static GroupedRopeTable of(RopeTable table, ChannelGroups keys) {
    int tokens = table.cosines().length / table.pairs();
    int groups = keys.count();
    return new GroupedRopeTable(
        grouped(table.cosines(), table.pairs(), tokens, groups),
        grouped(table.sines(), table.pairs(), tokens, groups),
        groups);
  }

  private static float[] grouped(float[] angles, int pairs, int tokens, int groups) {
    float[] grouped = new float[tokens * groups * PAIRS];
    for (int token = 0; token < tokens; token++) {
      for (int group = 0; group < groups; group++) {
        for (int member = 0; member < PAIRS; member++) {
          grouped[(token * groups + group) * PAIRS + member] =
              angles[token * pairs + member * groups + group];
        }
      }
    }
    return grouped;
  }

  /**
   * Rotates keys of consecutive tokens in place, the i-th one by i positions.
   *
   * @param keys (tokens, groups, CHANNELS)
   */
  void rotateEach(Kernels kernels, float[] keys, int tokens) {
    kernels.rowCodes().rotateEach(keys, tokens * groups, PAIRS, cosines, sines);
  }
}

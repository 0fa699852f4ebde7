package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * How the query heads that share a KV head are shared out to blocks.
 *
 * @param blocks for each KV head; all of them read its pages
 * @param heads of a block at the most
 * @param sets of four heads that a packed page is multiplied with, 0 for pages of halves
 */
record HeadBlocks(int blocks, int heads, int sets) {
  /** Channels of a head that there are kernels for. */
  static final SortedSet<Integer> HEAD_DIMS = new TreeSet<>(Set.of(64, 96, 128, 256));

  /** Columns of a matrix operand. */
  private static final int MOST_HEADS = 8;

  private static final int SET = 4;
  private static final int WIDE = 256;

  /**
   * @throws DeviceRefusal for heads that there are no kernels for
   */
  static HeadBlocks of(PageFormat format, AttentionShape shape) {
    if (!HEAD_DIMS.contains(shape.keyDim()) || shape.keyDim() != shape.valueDim()) {
      throw new DeviceRefusal(
          "attention on a device has no kernel for keys of %d channels and values of %d; expected %s of both"
              .formatted(shape.keyDim(), shape.valueDim(), HEAD_DIMS));
    }
    int sharing = shape.queriesPerKvHead();
    // Outputs of two sets of wide heads have no room in registers.
    int most = format.isPacked() && shape.keyDim() == WIDE ? SET : MOST_HEADS;
    int blocks = Math.ceilDiv(sharing, most);
    int heads = Math.ceilDiv(sharing, blocks);
    return new HeadBlocks(blocks, heads, format.isPacked() ? Math.ceilDiv(heads, SET) : 0);
  }

  /** That a block's registers allow. */
  int mostWarps(int headDim) {
    return sets == 2 || sets == 1 && headDim == WIDE ? 8 : 16;
  }

  String kernelName(PageFormat format, int headDim) {
    String name = "attend_%s_d%d".formatted(format.kernelName(), headDim);
    return sets == 0 ? name : "%s_sets%d".formatted(name, sets);
  }
}

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

  /** Those of formats that have kernels for the commonest heads alone. */
  static final SortedSet<Integer> COMMON_HEAD_DIMS = new TreeSet<>(Set.of(64, 128));

  /** Columns of a matrix operand. */
  static final int MAX_HEADS = 8;

  /** Heads that stand in those columns twice. */
  static final int SET_HEADS = 4;

  /** Channels whose outputs take half of a warp's registers for one set. */
  static final int WIDE_HEAD_DIM = 256;

  static final int MAX_WARPS = 16;

  /**
   * @throws DeviceException for heads that there are no kernels for
   */
  static HeadBlocks of(PageFormat format, AttentionShape shape) {
    if (!format.headDims().contains(shape.keyDim()) || shape.keyDim() != shape.valueDim()) {
      throw new DeviceException(
          "attention on a device has no kernel of %s for keys of %d channels and values of %d; expected %s of both"
              .formatted(format, shape.keyDim(), shape.valueDim(), format.headDims()));
    }
    int sharing = shape.queriesPerKvHead();
    int blocks = Math.ceilDiv(sharing, format.maxHeads(shape.keyDim()));
    int heads = Math.ceilDiv(sharing, blocks);
    return new HeadBlocks(blocks, heads, format.isQuantized() ? Math.ceilDiv(heads, SET_HEADS) : 0);
  }

  /** That a block's registers allow. */
  int maxWarps(PageFormat format, int headDim) {
    boolean wide = sets == 2 || sets == 1 && headDim == WIDE_HEAD_DIM;
    return Math.min(format.maxWarps(), wide ? MAX_WARPS / 2 : MAX_WARPS);
  }

  String kernelName(PageFormat format, int headDim) {
    String name = "attend_%s_d%d".formatted(format.kernelName(), headDim);
    return sets == 0 ? name : "%s_sets%d".formatted(name, sets);
  }
}

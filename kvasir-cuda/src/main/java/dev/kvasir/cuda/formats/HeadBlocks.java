package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.DeviceException;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The partition of the query heads that share a KV head into thread blocks.
 *
 * @param blocks thread blocks per KV head; each of them reads its pages
 * @param heads maximum query heads per block
 * @param sets sets of four heads that a packed page is multiplied with; 0 for fp16 pages
 */
public record HeadBlocks(int blocks, int heads, int sets) {
  /** Head dimensions with kernels. */
  static final SortedSet<Integer> HEAD_DIMS = new TreeSet<>(Set.of(64, 96, 128, 256));

  /** Head dimensions of formats that only support common heads. */
  public static final SortedSet<Integer> COMMON_HEAD_DIMS = new TreeSet<>(Set.of(64, 128));

  /** Columns of a matrix operand. */
  public static final int MAX_HEADS = 8;

  /** Heads per set; each takes two of those columns. */
  public static final int SET_HEADS = 4;

  /** Head dimension at which the outputs of one set take half of a warp's registers. */
  public static final int WIDE_HEAD_DIM = 256;

  static final int MAX_WARPS = 16;

  /**
   * @throws DeviceException if there are no kernels for the heads
   */
  public static HeadBlocks of(PageFormat format, AttentionShape shape) {
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

  /** Returns the maximum number of warps per block, limited by registers. */
  int maxWarps(PageFormat format, int headDim) {
    boolean wide = sets == 2 || sets == 1 && headDim == WIDE_HEAD_DIM;
    return Math.min(format.maxWarps(), wide ? MAX_WARPS / 2 : MAX_WARPS);
  }

  String kernelName(PageFormat format, int headDim) {
    String name = "attend_%s_d%d".formatted(format.kernelName(), headDim);
    return sets == 0 ? name : "%s_sets%d".formatted(name, sets);
  }
}

package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

/**
 * The matrices of several experts in a gpt-oss checkpoint: MXFP4 in two byte tensors, {@code
 * NAME_blocks} (experts, rows, groups, 16) and {@code NAME_scales} (experts, rows, groups). They
 * are converted to blocks of {@link GgmlType#MXFP4}, which has another nibble order:
 *
 * <pre>
 *   blocks, byte j   bits 3..0 = value 2j    bits 7..4 = value 2j + 1
 *   qs[j]            bits 3..0 = value j     bits 7..4 = value j + 16
 * </pre>
 */
public final class Mxfp4Pair {
  private static final int GROUP = 32;
  private static final int GROUP_BYTES = GROUP / 2;
  private static final int BLOCK_BYTES = 1 + GROUP_BYTES;

  private final String name;
  private final int experts;
  private final int rows;
  private final int groups;
  private final MemorySegment blocks;
  private final MemorySegment scales;

  private Mxfp4Pair(String name, ByteTensor blocks, ByteTensor scales) {
    this.name = name;
    this.experts = Math.toIntExact(scales.shape()[0]);
    this.rows = Math.toIntExact(scales.shape()[1]);
    this.groups = Math.toIntExact(scales.shape()[2]);
    this.blocks = blocks.data();
    this.scales = scales.data();
  }

  /** Rejects tensors whose shapes do not match. */
  static Mxfp4Pair of(String fileName, String name, ByteTensor blocks, ByteTensor scales) {
    long[] shape = scales.shape();
    boolean countable = shape.length == 3 && Arrays.stream(shape).allMatch(Mxfp4Pair::isCount);
    if (!countable
        || !Arrays.equals(blocks.shape(), new long[] {shape[0], shape[1], shape[2], GROUP_BYTES})) {
      throw new InvalidInputException(
          "%s: tensors '%s_blocks' and '%s_scales' have shapes %s and %s; expected experts x rows"
                  .formatted(
                      fileName,
                      Excerpt.of(name),
                      Excerpt.of(name),
                      Tensor.text(blocks.shape()),
                      Tensor.text(shape))
              + " x groups x %d and experts x rows x groups".formatted(GROUP_BYTES));
    }
    return new Mxfp4Pair(name, blocks, scales);
  }

  /** Limits sizes so that the bytes of an expert fit into an array. */
  private static boolean isCount(long size) {
    return size >= 1 && size <= 1 << 20;
  }

  public int experts() {
    return experts;
  }

  public int rows() {
    return rows;
  }

  public int columns() {
    return groups * GROUP;
  }

  /** Returns the matrix of one expert, (rows, columns). */
  public Tensor expert(int expert) {
    return expert(expert, 0, 1);
  }

  /**
   * Returns rows {@code firstRow}, {@code firstRow + step} and so on of one expert's matrix. In
   * gpt-oss, rows of gate and up alternate.
   */
  public Tensor expert(int expert, int firstRow, int step) {
    Objects.checkIndex(expert, experts);
    Objects.checkIndex(firstRow, rows);
    int taken = Math.ceilDiv(rows - firstRow, step);
    byte[] out = new byte[Math.multiplyExact(taken, groups * BLOCK_BYTES)];
    int at = 0;
    for (int row = firstRow; row < rows; row += step) {
      long group = ((long) expert * rows + row) * groups;
      for (int i = 0; i < groups; i++, group++, at += BLOCK_BYTES) {
        out[at] = scales.get(ValueLayout.JAVA_BYTE, group);
        reorder(group * GROUP_BYTES, out, at + 1);
      }
    }
    return new Tensor(
        name, GgmlType.MXFP4, new long[] {taken, columns()}, MemorySegment.ofArray(out));
  }

  private void reorder(long from, byte[] out, int to) {
    for (int j = 0; j < GROUP_BYTES; j++) {
      int low = nibble(from, j);
      int high = nibble(from, j + GROUP_BYTES);
      out[to + j] = (byte) (low | high << 4);
    }
  }

  private int nibble(long from, int value) {
    return BlockReader.unsignedByte(blocks, from + value / 2) >>> 4 * (value % 2) & 15;
  }
}

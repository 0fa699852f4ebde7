package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.kernels.DeviceMatrix.RandomTensor;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Weights in blocks are those of the file. */
class WeightBlocksTest {
  private static final int COLUMNS = 512;

  private static WeightFormat format(GgmlType type) {
    WeightFormat format = WeightFormat.blocked(type).orElseThrow();
    assertThat(format.isBlocked()).isTrue();
    return format;
  }

  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "F16", "BF16", "F32"})
  void everyWeightIsReadBack(GgmlType type) {
    WeightFormat format = format(type);
    Tensor first = RandomTensor.of(type, 24, COLUMNS, 1);
    Tensor second = RandomTensor.of(type, 24, COLUMNS, 2);
    float[] wanted = Arrays.copyOf(first.toFloats(), 48 * COLUMNS);
    System.arraycopy(second.toFloats(), 0, wanted, 24 * COLUMNS, 24 * COLUMNS);
    try (WeightTiles tiles = new WeightTiles(format, COLUMNS, 3L * COLUMNS / 32)) {
      tiles.write(first, 0);
      tiles.write(second, 24); // in the middle of a block
      BlockWeights weights = new BlockWeights(format, tiles, COLUMNS);
      float off = 0;
      for (int i = 0; i < wanted.length; i++) {
        off = Math.max(off, Math.abs(weights.exact(i / COLUMNS, i % COLUMNS) - wanted[i]));
      }
      assertThat(off)
          .isLessThanOrEqualTo(
              type == GgmlType.BF16 ? 0x1p-25f : type == GgmlType.F32 ? 0x1p-12f : 0);
    }
  }

  /** Every bit of a file has its own bit in a block, in some rows of it. */
  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "F16"})
  void everyBitHasOneOwner(GgmlType type) {
    WeightFormat format = format(type);
    byte[] file = new byte[(int) type.bytesFor(WeightBlocks.COLUMNS)];
    Tensor row =
        new Tensor(
            "a row", type, new long[] {1, WeightBlocks.COLUMNS}, MemorySegment.ofArray(file));
    try (WeightTiles tiles =
        new WeightTiles(format, WeightBlocks.COLUMNS, WeightBlocks.COLUMNS / 32)) {
      BitSet owned = new BitSet();
      List<Integer> rows = ChangedBit.someOf(WeightBlocks.ROWS);
      for (int to : rows) {
        byte[] none = written(tiles, row, to);
        for (int bit = 0; bit < 8 * file.length; bit++) {
          file[bit / 8] = (byte) (1 << bit % 8);
          // Adding 128 to a code of Q8_0, or 32 to one of Q6_K, inverts its highest bit only.
          owned.set(ChangedBit.of(none, written(tiles, row, to)));
          file[bit / 8] = 0;
        }
      }
      assertThat(owned.cardinality()).isEqualTo(8 * rows.size() * file.length);
    }
  }

  private static byte[] written(WeightTiles tiles, Tensor row, int to) {
    tiles.codes().fill((byte) 0);
    tiles.write(row, to);
    return tiles.codes().toArray(JAVA_BYTE);
  }

  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "F16"})
  void blocksTakeTheBytesOfTheFile(GgmlType type) {
    assertThat(DeviceMatrix.bytes(format(type), 256, COLUMNS))
        .isEqualTo(type.bytesFor(256L * COLUMNS));
    assertThat(DeviceMatrix.bytes(format(type), 129, COLUMNS)) // padded to whole tiles
        .isEqualTo(type.bytesFor(256L * COLUMNS));
  }

  @Test
  void otherTypesAndWidthsStayInChunks() {
    assertThat(WeightFormat.of(GgmlType.Q8_0, 896, true)).contains(WeightFormat.BYTES);
    assertThat(WeightFormat.of(GgmlType.Q8_0, 1024, false)).contains(WeightFormat.BYTES);
    assertThat(WeightFormat.of(GgmlType.Q4_1, 1024, true)).contains(WeightFormat.GROUPS4);
    assertThat(WeightFormat.of(GgmlType.Q2_K, 1024, true)).isEmpty();
    assertThat(WeightFormat.of(GgmlType.Q4_K, 1024, true)).contains(WeightFormat.NIBBLE_BLOCKS);
  }
}

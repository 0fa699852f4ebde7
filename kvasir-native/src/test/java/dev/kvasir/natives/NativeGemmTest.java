package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.contract.GemmContract;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import dev.kvasir.kernel.GemmKernels;
import dev.kvasir.kernel.GgmlBlocks;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.ScaleFormat;
import dev.kvasir.kernel.WeightCodes;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NativeGemmTest extends GemmContract {
  private static final int TILE_ROWS = QuantizedWeights.TILE_ROWS;
  private static final Map<GgmlBlocks, GgmlType> TYPES =
      Map.of(GgmlBlocks.Q8_0, GgmlType.Q8_0, GgmlBlocks.Q4_0, GgmlType.Q4_0);

  private final Random random = new Random(7);
  private final NativeKernels kernels = new NativeKernels();

  NativeGemmTest() {
    super(new NativeKernels());
  }

  /** Repacking equals the Java conversion, in one call and in two parts. */
  @ParameterizedTest
  @CsvSource({"1, 32", "15, 64", "16, 96", "33, 512", "200, 1536"})
  void repacksGgmlBlocks(int rows, int columns) {
    TYPES.forEach(
        (kind, type) -> {
          try (CountedArena arena = new CountedArena()) {
            byte[] bytes = randomBlocks(type, rows * columns);
            MemorySegment blocks = segment(arena, bytes);
            QuantizedWeights expected = repackedByJava(arena, type, rows, columns, bytes);
            QuantizedWeights whole = matrix(arena, type, rows, columns);
            QuantizedWeights parts = matrix(arena, type, rows, columns);
            int tiles = expected.tiles();
            GemmKernels repacking = kernels.gemm();
            assertThat(repacking.repack(kind, blocks, whole, 0, tiles)).isTrue();
            assertThat(repacking.repack(kind, blocks, parts, tiles / 2, tiles)).isTrue();
            assertThat(repacking.repack(kind, blocks, parts, 0, tiles / 2)).isTrue();
            assertSame(whole, expected);
            assertSame(parts, expected);
          }
        });
  }

  /** The smallest half, infinity and NaN, in the last row. */
  @ParameterizedTest
  @ValueSource(ints = {0x0001, 0x8001, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0xFFFF})
  void reportsWhetherScalesAreFinite(int half) {
    int rows = 19;
    int columns = 96;
    TYPES.forEach(
        (kind, type) -> {
          byte[] bytes = new byte[(int) type.bytesFor((long) rows * columns)];
          setScale(bytes, bytes.length - type.layout().blockBytes(), (short) half);
          try (CountedArena arena = new CountedArena()) {
            QuantizedWeights matrix = matrix(arena, type, rows, columns);
            float scale = Float.float16ToFloat((short) half);
            GemmKernels repacking = kernels.gemm();
            assertThat(repacking.repack(kind, segment(arena, bytes), matrix, 0, 2))
                .isEqualTo(Float.isFinite(scale));
            if (Float.isFinite(scale)) {
              assertThat(matrix.scale(rows - 1, 2)).isEqualTo(scale);
            }
          }
        });
  }

  private static void assertSame(QuantizedWeights repacked, QuantizedWeights expected) {
    assertThat(repacked.codes().mismatch(expected.codes())).isEqualTo(-1);
    assertThat(repacked.scales().mismatch(expected.scales())).isEqualTo(-1);
  }

  private static QuantizedWeights repackedByJava(
      CountedArena arena, GgmlType type, int rows, int columns, byte[] bytes) {
    QuantizedWeights matrix = matrix(arena, type, rows, columns);
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int first = tile * TILE_ROWS;
      int count = Math.min(TILE_ROWS, rows - first);
      byte[] codes = new byte[count * columns];
      float[] scales = new float[count * matrix.groups()];
      float[] minimums = new float[count * matrix.groups()];
      int from = (int) type.bytesFor((long) first * columns);
      int to = (int) type.bytesFor((long) (first + count) * columns);
      type.layout().unpackAll(Arrays.copyOfRange(bytes, from, to), codes, scales, minimums);
      matrix.setTile(tile, count, codes, scales, minimums);
      for (int i = 0; i < minimums.length; i++) {
        int row = first + i / matrix.groups();
        assertThat(matrix.minimum(row, i % matrix.groups())).isEqualTo(minimums[i]);
      }
    }
    return matrix;
  }

  private static QuantizedWeights matrix(CountedArena arena, GgmlType type, int rows, int columns) {
    BlockLayout layout = type.layout();
    ScaleFormat format =
        new ScaleFormat(ScaleFormat.ScaleEncoding.HALVES, false, layout.minimumFactor());
    WeightCodes coding = layout.hasNibbles() ? WeightCodes.NIBBLES : WeightCodes.BYTES;
    return new QuantizedWeights(arena, rows, columns, coding, layout.groupLength(), format);
  }

  private static MemorySegment segment(CountedArena arena, byte[] bytes) {
    return arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
  }

  /** Blocks with finite scales of either sign. */
  private byte[] randomBlocks(GgmlType type, int values) {
    byte[] bytes = new byte[(int) type.bytesFor(values)];
    random.nextBytes(bytes);
    for (int at = 0; at < bytes.length; at += type.layout().blockBytes()) {
      setScale(bytes, at, Float.floatToFloat16((float) random.nextGaussian()));
    }
    return bytes;
  }

  private static void setScale(byte[] bytes, int at, short half) {
    bytes[at] = (byte) half;
    bytes[at + 1] = (byte) (half >> 8);
  }
}

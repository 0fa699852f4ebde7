package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Weights in a device's order are those of the file. */
class WeightTilesTest {
  private static final int COLUMNS = 512;

  static Stream<GgmlType> types() {
    return Stream.of(
        GgmlType.Q8_0,
        GgmlType.Q4_0,
        GgmlType.Q4_1,
        GgmlType.Q5_0,
        GgmlType.Q4_K,
        GgmlType.Q5_K,
        GgmlType.Q6_K,
        GgmlType.F16,
        GgmlType.BF16);
  }

  @ParameterizedTest
  @MethodSource("types")
  void everyWeightIsFoundAgain(GgmlType type) {
    WeightKind kind = WeightKind.of(type).orElseThrow();
    Tensor first = RandomTensor.of(type, 24, COLUMNS, 1);
    Tensor second = RandomTensor.of(type, 24, COLUMNS, 2);
    float[] wanted = Arrays.copyOf(first.toFloats(), 48 * COLUMNS);
    System.arraycopy(second.toFloats(), 0, wanted, 24 * COLUMNS, 24 * COLUMNS);
    try (WeightTiles tiles = new WeightTiles(kind, COLUMNS, 4L * COLUMNS / 32)) {
      tiles.lay(first, 0);
      tiles.lay(second, 24); // in the midst of a tile
      float off = 0;
      for (int i = 0; i < wanted.length; i++) {
        float found = at(kind, tiles, i / COLUMNS, i % COLUMNS);
        off = Math.max(off, Math.abs(found - wanted[i])); // exact for floats that are near
      }
      assertThat(off).isLessThanOrEqualTo(type == GgmlType.BF16 ? 0x1p-25f : 0);
    }
  }

  /** As weights.cuh reads it. */
  private static float at(WeightKind kind, WeightTiles tiles, int row, int column) {
    long chunk = (long) (row / 16) * (COLUMNS / 32) + column / 32;
    int wide = WeightKind.byteOf(row, column);
    long codes = chunk * kind.codeBytes();
    return switch (kind) {
      case HALVES ->
          Float.float16ToFloat(
              tiles.codes().get(JAVA_SHORT_UNALIGNED, codes + 2L * WeightKind.halfOf(row, column)));
      case BYTES ->
          Float.float16ToFloat(
                  tiles.scales().get(JAVA_SHORT_UNALIGNED, 2 * (chunk * 16 + row % 16)))
              * tiles.codes().get(JAVA_BYTE, codes + wide);
      case SIXTEENS ->
          scale(tiles, chunk * 32 + column % 32 / 16 * 16 + row % 16)
              * tiles.codes().get(JAVA_BYTE, codes + wide);
      case GROUPS8 ->
          Math.fma(
              scale(tiles, chunk * 16 + row % 16),
              tiles.codes().get(JAVA_BYTE, codes + wide),
              minimum(tiles, chunk * 16 + row % 16));
      case GROUPS4 -> {
        int word = wide / 4 % 4;
        long at = codes + wide / 16 * 8 + word / 2 * 4 + wide % 4;
        int code = tiles.codes().get(JAVA_BYTE, at) >> 4 * (word % 2) & 15;
        yield Math.fma(
            scale(tiles, chunk * 16 + row % 16), code, minimum(tiles, chunk * 16 + row % 16));
      }
    };
  }

  private static float scale(WeightTiles tiles, long index) {
    return tiles.scales().get(JAVA_FLOAT_UNALIGNED, 4 * index);
  }

  private static float minimum(WeightTiles tiles, long index) {
    return tiles.minimums().get(JAVA_FLOAT_UNALIGNED, 4 * index);
  }

  @Test
  void typesWithoutKernelsAreNamed() {
    assertThat(WeightKind.of(GgmlType.F32)).isEmpty();
    assertThat(WeightKind.of(GgmlType.Q2_K)).isEmpty();
  }
}

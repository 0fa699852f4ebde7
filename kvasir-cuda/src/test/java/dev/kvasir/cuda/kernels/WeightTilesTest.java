package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.kernels.DeviceMatrix.RandomTensor;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Weights in device order are those of the file. */
class WeightTilesTest {
  private static final int COLUMNS = 512;

  static Stream<GgmlType> types() {
    return Stream.of(
        GgmlType.Q8_0,
        GgmlType.Q4_0,
        GgmlType.Q4_1,
        GgmlType.Q5_0,
        GgmlType.IQ2_XS,
        GgmlType.Q4_K,
        GgmlType.Q5_K,
        GgmlType.Q6_K,
        GgmlType.F16,
        GgmlType.BF16,
        GgmlType.F32);
  }

  @ParameterizedTest
  @MethodSource("types")
  void everyWeightIsReadBack(GgmlType type) {
    WeightFormat format = WeightFormat.of(type).orElseThrow();
    Tensor first = RandomTensor.of(type, 24, COLUMNS, 1);
    Tensor second = RandomTensor.of(type, 24, COLUMNS, 2);
    float[] wanted = Arrays.copyOf(first.toFloats(), 48 * COLUMNS);
    System.arraycopy(second.toFloats(), 0, wanted, 24 * COLUMNS, 24 * COLUMNS);
    try (WeightTiles tiles = new WeightTiles(format, COLUMNS, 4L * COLUMNS / 32)) {
      tiles.write(first, 0);
      tiles.write(second, 24); // in the middle of a tile
      float off = 0;
      for (int i = 0; i < wanted.length; i++) {
        float found = at(format, tiles, i / COLUMNS, i % COLUMNS);
        off = Math.max(off, Math.abs(found - wanted[i])); // exact for floats that are close
      }
      float bound = type == GgmlType.BF16 ? 0x1p-25f : type == GgmlType.F32 ? 0x1p-12f : 0;
      assertThat(off).isLessThanOrEqualTo(bound);
    }
  }

  static Stream<GgmlType> storedTypes() {
    return Stream.of(
        GgmlType.Q8_0, GgmlType.Q4_0, GgmlType.Q4_K, GgmlType.Q5_K, GgmlType.Q6_K, GgmlType.F16);
  }

  @ParameterizedTest
  @MethodSource("storedTypes")
  void storedFormatsTakeTheSameBytes(GgmlType type) {
    WeightFormat format = WeightFormat.of(type).orElseThrow();
    assertThat(DeviceMatrix.bytes(format, 64, COLUMNS)).isEqualTo(type.bytesFor(64L * COLUMNS));
  }

  /** Every bit of a file has its own bit on a device, in some rows of a tile. */
  @ParameterizedTest
  @MethodSource("storedTypes")
  void everyBitHasOneOwner(GgmlType type) {
    WeightFormat format = WeightFormat.of(type).orElseThrow();
    int columns = Math.max(32, type.blockLength());
    byte[] file = new byte[(int) type.bytesFor(columns)];
    MemorySegment data = MemorySegment.ofArray(file);
    Tensor row = new Tensor("a row", type, new long[] {1, columns}, data);
    try (WeightTiles tiles = new WeightTiles(format, columns, columns / 32)) {
      BitSet owned = new BitSet();
      List<Integer> rows = ChangedBit.someOf(WeightFormat.TILE_ROWS);
      for (int to : rows) {
        byte[] none = written(tiles, row, to);
        for (int bit = 0; bit < 8 * file.length; bit++) {
          file[bit / 8] = (byte) (1 << bit % 8);
          owned.set(ChangedBit.of(none, written(tiles, row, to)));
          file[bit / 8] = 0;
        }
      }
      assertThat(owned.cardinality()).isEqualTo(8 * rows.size() * file.length);
    }
  }

  /** Returns all bits of codes and scales with one row written. */
  private static byte[] written(WeightTiles tiles, Tensor row, int to) {
    tiles.codes().fill((byte) 0);
    tiles.scales().fill((byte) 0);
    tiles.write(row, to);
    byte[] codes = tiles.codes().toArray(JAVA_BYTE);
    byte[] scales = tiles.scales().toArray(JAVA_BYTE);
    byte[] all = Arrays.copyOf(codes, codes.length + scales.length);
    System.arraycopy(scales, 0, all, codes.length, scales.length);
    return all;
  }

  /** Reads a weight as weights.cuh does. */
  private static float at(WeightFormat format, WeightTiles tiles, int row, int column) {
    long chunk = (long) (row / 16) * (COLUMNS / 32) + column / 32;
    int wide = WeightFormat.byteOf(row, column);
    long codes = chunk * format.codeBytes();
    return switch (format) {
      case HALVES ->
          Float.float16ToFloat(
              tiles
                  .codes()
                  .get(JAVA_SHORT_UNALIGNED, codes + 2L * WeightFormat.halfOf(row, column)));
      case BYTES ->
          Float.float16ToFloat(
                  tiles.scales().get(JAVA_SHORT_UNALIGNED, 2 * (chunk * 16 + row % 16)))
              * tiles.codes().get(JAVA_BYTE, codes + wide);
      case NIBBLES ->
          Float.float16ToFloat(
                  tiles.scales().get(JAVA_SHORT_UNALIGNED, 2 * (chunk * 16 + row % 16)))
              * ((byte) (nibble(tiles, codes, row, column) << 4) / 16);
      case SUPER4 -> pair(tiles, chunk, row, nibble(tiles, codes, row, column));
      case SUPER5 -> {
        int lane = wide / 16;
        int fifths = tiles.codes().get(JAVA_BYTE, codes + 256 + lane / 2 * 4 + wide % 4);
        int fifth = fifths >> lane % 2 * 4 + wide / 4 % 4 & 1;
        yield pair(tiles, chunk, row, nibble(tiles, codes, row, column) | fifth << 4);
      }
      case SUPER6 -> {
        long supers = chunk / 8 * 288;
        int lows = tiles.codes().get(JAVA_BYTE, codes + 256 + wide / 16 * 4 + wide % 4);
        int code =
            (byte) (nibble(tiles, codes, row, column) << 4) / 4 + (lows >> wide / 4 % 4 * 2 & 3);
        long place = supers + 32 + chunk % 8 * 32 + row % 8 * 4 + column % 32 / 16 * 2;
        yield half(tiles, supers + row % 16 * 2)
            * tiles.scales().get(JAVA_BYTE, place + row % 16 / 8)
            * code;
      }
      case SIXTEENS ->
          scale(tiles, chunk * 32 + column % 32 / 16 * 16 + row % 16)
              * tiles.codes().get(JAVA_BYTE, codes + wide);
      case GROUPS8 ->
          Math.fma(
              scale(tiles, chunk * 16 + row % 16),
              tiles.codes().get(JAVA_BYTE, codes + wide),
              minimum(tiles, chunk * 16 + row % 16));
      case GROUPS4 ->
          Math.fma(
              scale(tiles, chunk * 16 + row % 16),
              nibble(tiles, codes, row, column),
              minimum(tiles, chunk * 16 + row % 16));
      default -> throw new IllegalArgumentException(format + " is in blocks");
    };
  }

  private static int nibble(WeightTiles tiles, long codes, int row, int column) {
    int wide = WeightFormat.byteOf(row, column);
    int word = wide / 4 % 4;
    long at = codes + wide / 16 * 8 + word / 2 * 4 + wide % 4;
    return tiles.codes().get(JAVA_BYTE, at) >> 4 * (word % 2) & 15;
  }

  /** Returns a code with a 6-bit scale and minimum. */
  private static float pair(WeightTiles tiles, long chunk, int row, int code) {
    long supers = chunk / 8 * 256;
    long scales = supers + 64 + chunk % 8 * 24;
    int low = tiles.scales().get(JAVA_SHORT_UNALIGNED, scales + row % 8 * 2) & 0xFFFF;
    int high = tiles.scales().get(JAVA_BYTE, scales + 16 + row % 8) & 0xFF;
    int fields = (low | high << 16) >> row % 16 / 8 * 12;
    return Math.fma(
        half(tiles, supers + row % 16 * 4) * (fields & 63),
        code,
        -(half(tiles, supers + row % 16 * 4 + 2) * (fields >> 6 & 63)));
  }

  private static float half(WeightTiles tiles, long at) {
    return Float.float16ToFloat(tiles.scales().get(JAVA_SHORT_UNALIGNED, at));
  }

  private static float scale(WeightTiles tiles, long index) {
    return tiles.scales().get(JAVA_FLOAT_UNALIGNED, 4 * index);
  }

  private static float minimum(WeightTiles tiles, long index) {
    return tiles.minimums().get(JAVA_FLOAT_UNALIGNED, 4 * index);
  }

  @Test
  void unsupportedTypesAreRejected() {
    assertThat(WeightFormat.of(GgmlType.Q2_K)).isEmpty();
  }
}

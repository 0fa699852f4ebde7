package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.memory.CountedArena;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CodedMatrixTest {
  private static final long SEED = 11;

  private final CountedArena arena = new CountedArena();

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest
  @CsvSource({
    "4, 16, true", "4, 16, false", "4, 32, true", "4, 32, false",
    "8, 16, true", "8, 16, false", "8, 32, true", "8, 32, false"
  })
  void whatIsSetIsReadBack(int bits, int group, boolean hasMinimums) {
    for (int rows : new int[] {1, 15, 16, 17, 33}) {
      CodedMatrix matrix = new CodedMatrix(arena, rows, 96, bits, group, hasMinimums);
      CodedRows expected = CodedRows.random(matrix, new Random(SEED));
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < 96; column++) {
          assertThat(matrix.code(row, column))
              .as("seed %d, code %d, %d of %d rows", SEED, row, column, rows)
              .isEqualTo(expected.codes()[row][column]);
        }
        for (int g = 0; g < matrix.groups(); g++) {
          assertThat(matrix.scale(row, g)).isEqualTo(expected.scales()[row][g]);
          assertThat(matrix.minimum(row, g))
              .isEqualTo(hasMinimums ? expected.minimums()[row][g] : 0);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 16, true", "4, 32, false", "8, 16, true", "8, 32, false"})
  void aTileLaidDownAtOnceIsItsRowsOneByOne(int bits, int group, boolean hasMinimums) {
    CodedMatrix byRow = new CodedMatrix(arena, 37, 64, bits, group, hasMinimums);
    CodedRows rows = CodedRows.random(byRow, new Random(SEED));
    CodedMatrix byTile = new CodedMatrix(arena, 37, 64, bits, group, hasMinimums);
    for (int tile = 0; tile < byTile.tiles(); tile++) {
      int first = tile * CodedMatrix.TILE_ROWS;
      int count = Math.min(CodedMatrix.TILE_ROWS, 37 - first);
      byte[] codes = new byte[count * 64];
      float[] scales = new float[count * byTile.groups()];
      float[] minimums = new float[count * byTile.groups()];
      for (int row = 0; row < count; row++) {
        System.arraycopy(rows.codes()[first + row], 0, codes, row * 64, 64);
        int at = row * byTile.groups();
        System.arraycopy(rows.scales()[first + row], 0, scales, at, byTile.groups());
        System.arraycopy(rows.minimums()[first + row], 0, minimums, at, byTile.groups());
      }
      byTile.setTile(tile, count, codes, scales, minimums);
    }
    assertThat(byTile.codes().mismatch(byRow.codes())).isEqualTo(-1);
    assertThat(byTile.scales().mismatch(byRow.scales())).isEqualTo(-1);
    if (hasMinimums) {
      assertThat(byTile.minimums().mismatch(byRow.minimums())).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 0", "4, 15", "8, -128", "8, 127"})
  void theCodesAtTheEndsOfTheRangeLeaveTheirNeighboursAlone(int bits, byte extreme) {
    CodedMatrix matrix = new CodedMatrix(arena, 2, 32, bits, 32, false);
    float[] scales = {1};
    byte[] neighbours = new byte[32];
    Arrays.fill(neighbours, (byte) 3);
    matrix.setRow(0, neighbours, scales, null);
    for (int place = 0; place < 32; place++) {
      byte[] codes = neighbours.clone();
      codes[place] = extreme;
      matrix.setRow(1, codes, scales, null);
      for (int column = 0; column < 32; column++) {
        assertThat(matrix.code(1, column)).isEqualTo(codes[column]);
        assertThat(matrix.code(0, column)).isEqualTo(3);
      }
    }
  }

  @Test
  void bytesAreThoseOfTheFormulaAndOfTheArena() {
    for (int rows : new int[] {1, 16, 17, 100}) {
      for (int bits : new int[] {4, 8}) {
        for (int group : new int[] {16, 32}) {
          for (int floats : new int[] {1, 2}) {
            long before = arena.bytes();
            CodedMatrix matrix = new CodedMatrix(arena, rows, 256, bits, group, floats == 2);
            long formula =
                16L * Math.ceilDiv(rows, 16) * (256 * bits / 8 + 256 / group * 4 * floats);
            assertThat(matrix.bytes()).isEqualTo(formula).isEqualTo(arena.bytes() - before);
            assertThat(matrix.codesOffset(matrix.tiles())).isEqualTo(matrix.codes().byteSize());
            assertThat(matrix.scalesOffset(matrix.tiles())).isEqualTo(matrix.scales().byteSize());
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | 32 | 5 | 32 | codeBits is 5; expected 4 or 8",
        "1 | 32 | 8 | 64 | groupLength is 64; expected 16 or 32",
        "0 | 32 | 8 | 32 | a matrix of 0 x 32; columns must be a multiple of 32",
        "1 | 0  | 8 | 32 | a matrix of 1 x 0; columns must be a multiple of 32",
        "1 | 48 | 4 | 16 | a matrix of 1 x 48; columns must be a multiple of 32"
      })
  void sizesThatItCannotHaveAreRefused(
      int rows, int columns, int bits, int group, String sentence) {
    assertThatThrownBy(() -> new CodedMatrix(arena, rows, columns, bits, group, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
    assertThat(arena.bytes()).isZero();
  }

  @Test
  void aRowBeyondTheLastIsRefused() {
    CodedMatrix matrix = new CodedMatrix(arena, 17, 32, 8, 32, false);
    for (int row : new int[] {-1, 17, 31, 32}) {
      assertThatThrownBy(() -> matrix.setRow(row, new byte[32], new float[1], null))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}

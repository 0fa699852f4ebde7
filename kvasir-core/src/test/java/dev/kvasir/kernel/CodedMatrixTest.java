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
  @CsvSource({"4, 16, true", "4, 32, false", "8, 16, true", "8, 32, false"})
  void whatIsSetIsReadBack(int bits, int group, boolean hasMinimums) {
    for (int rows : new int[] {1, 15, 16, 17, 33}) {
      CodedMatrix matrix = new CodedMatrix(arena, rows, 96, bits, group, hasMinimums);
      LaidRows expected = LaidRows.random(matrix, new Random(SEED));
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

  @Test
  void theCodesAtTheEndsOfTheRangeLeaveTheirNeighboursAlone() {
    for (int bits : new int[] {4, 8}) {
      for (int extreme : bits == 4 ? new int[] {0, 15} : new int[] {-128, 127}) {
        for (int place = 0; place < 32; place++) {
          assertNeighboursAreLeftAlone(bits, (byte) extreme, place);
        }
      }
    }
  }

  private void assertNeighboursAreLeftAlone(int bits, byte extreme, int place) {
    CodedMatrix matrix = new CodedMatrix(arena, 2, 32, bits, 32, false);
    byte[] codes = new byte[2 * 32];
    Arrays.fill(codes, (byte) 3);
    codes[32 + place] = extreme;
    matrix.setTile(0, 2, codes, new float[] {1, 1}, null);
    for (int i = 0; i < codes.length; i++) {
      assertThat(matrix.code(i / 32, i % 32)).isEqualTo(codes[i]);
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
}

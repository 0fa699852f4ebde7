package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kernel.QuantizedWeights.SuperBlockScales;
import dev.kvasir.kernel.ScaleFormat.ScaleEncoding;
import dev.kvasir.memory.CountedArena;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantizedWeightsTest {
  private static final long SEED = 11;

  private static final byte[] LEVELS = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  private final CountedArena arena = new CountedArena();

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest
  @CsvSource({
    "4, 16, true",
    "4, 32, false",
    "5, 32, true",
    "6, 16, false",
    "8, 16, true",
    "8, 32, false"
  })
  void whatIsSetIsReadBack(int bits, int group, boolean hasMinimums) {
    for (int rows : new int[] {1, 15, 16, 17, 33}) {
      QuantizedWeights matrix =
          new QuantizedWeights(arena, rows, 96, ReferenceWeights.coding(bits), group, hasMinimums);
      ReferenceWeights expected = ReferenceWeights.random(matrix, new Random(SEED));
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
    for (int place = 0; place < 32; place++) {
      assertNeighboursAreLeftAlone(WeightCodes.NIBBLES, 0, 15, place);
      assertNeighboursAreLeftAlone(WeightCodes.of(0, 31), 0, 31, place);
      assertNeighboursAreLeftAlone(WeightCodes.of(-16, 15), -16, 15, place);
      assertNeighboursAreLeftAlone(WeightCodes.of(-32, 31), -32, 31, place);
      assertNeighboursAreLeftAlone(WeightCodes.BYTES, -128, 127, place);
      assertNeighboursAreLeftAlone(WeightCodes.levels(LEVELS), -127, 113, place);
    }
  }

  private void assertNeighboursAreLeftAlone(
      WeightCodes coding, int lowest, int highest, int place) {
    for (int extreme : new int[] {lowest, highest}) {
      int group = coding.bits() == 6 ? 16 : 32;
      QuantizedWeights matrix = new QuantizedWeights(arena, 2, 32, coding, group, false);
      byte[] codes = new byte[2 * 32];
      Arrays.fill(codes, (byte) 1);
      codes[32 + place] = (byte) extreme;
      matrix.setTile(0, 2, codes, new float[] {1, 1, 1, 1}, null);
      for (int i = 0; i < codes.length; i++) {
        assertThat(matrix.code(i / 32, i % 32)).isEqualTo(codes[i]);
      }
    }
  }

  @Test
  void theNarrowestCodesAreChosen() {
    assertThat(WeightCodes.of(0, 3)).isSameAs(WeightCodes.NIBBLES);
    assertThat(WeightCodes.of(-8, 7)).hasToString("5 bits from -8");
    assertThat(WeightCodes.of(0, 31)).hasToString("5 bits from 0");
    assertThat(WeightCodes.of(-32, 31)).hasToString("6 bits from -32");
    assertThat(WeightCodes.of(-32, 32)).isSameAs(WeightCodes.BYTES);
    assertThat(WeightCodes.levels(LEVELS)).isSameAs(WeightCodes.levels(LEVELS.clone()));
    assertThatThrownBy(() -> WeightCodes.of(-129, 0))
        .hasMessage("codes from -129 to 0; expected signed bytes");
    assertThatThrownBy(() -> WeightCodes.levels(new byte[15])).hasMessage("15 levels; expected 16");
  }

  @Test
  void bytesAreThoseOfTheFormulaAndOfTheArena() {
    for (int rows : new int[] {1, 16, 17, 100}) {
      for (int bits : new int[] {4, 8}) {
        WeightCodes coding = ReferenceWeights.coding(bits);
        for (int group : new int[] {16, 32}) {
          for (int floats : new int[] {1, 2}) {
            long before = arena.bytes();
            QuantizedWeights matrix =
                new QuantizedWeights(arena, rows, 256, coding, group, floats == 2);
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

  @Test
  void compactScalesTakeTheBytesOfTheirFormat() {
    // Of 256 columns of a row: Q8_0, Q4_0, Q4_1, Q5_0, Q4_K, Q5_K, Q6_K and Q3_K.
    assertRowBytes(8, 32, new ScaleFormat(ScaleEncoding.HALVES, false, 0), 8 * 34);
    assertRowBytes(4, 32, new ScaleFormat(ScaleEncoding.HALVES, false, -8), 8 * 18);
    assertRowBytes(4, 32, new ScaleFormat(ScaleEncoding.HALVES, true, 0), 8 * 20);
    assertRowBytes(5, 32, new ScaleFormat(ScaleEncoding.HALVES, false, 0), 8 * 22);
    assertRowBytes(4, 32, new ScaleFormat(ScaleEncoding.PRODUCTS, true, 0), 148);
    assertRowBytes(5, 32, new ScaleFormat(ScaleEncoding.PRODUCTS, true, 0), 180);
    assertRowBytes(6, 16, new ScaleFormat(ScaleEncoding.PRODUCTS, false, 0), 210);
    assertRowBytes(4, 16, new ScaleFormat(ScaleEncoding.PRODUCTS, false, -4), 146);
  }

  private void assertRowBytes(int bits, int group, ScaleFormat format, int rowBytes) {
    WeightCodes coding = ReferenceWeights.coding(bits);
    for (int rows : new int[] {1, 17, 32}) {
      long before = arena.bytes();
      QuantizedWeights matrix = new QuantizedWeights(arena, rows, 512, coding, group, format);
      assertThat(matrix.bytes())
          .isEqualTo(16L * Math.ceilDiv(rows, 16) * 2 * rowBytes)
          .isEqualTo(QuantizedWeights.bytesFor(rows, 512, coding, group, format))
          .isEqualTo(arena.bytes() - before);
      assertThat(matrix.scalesOffset(matrix.tiles())).isEqualTo(matrix.scales().byteSize());
    }
  }

  @Test
  void halvesAreReadBackAndMultiplesOfThemAreMinimums() {
    float[] scales = {0.5f, -65504, 0x1p-24f, -0f};
    QuantizedWeights matrix = halves(-8);
    matrix.setTile(0, 2, new byte[2 * 64], scales, null);
    for (int i = 0; i < scales.length; i++) {
      assertThat(matrix.scale(i / 2, i % 2)).isEqualTo(scales[i]);
      assertThat(matrix.minimum(i / 2, i % 2)).isEqualTo(-8 * scales[i]);
    }
  }

  @Test
  void productsAreReadBack() {
    ScaleFormat format = new ScaleFormat(ScaleEncoding.PRODUCTS, true, 0);
    QuantizedWeights matrix = new QuantizedWeights(arena, 18, 512, WeightCodes.NIBBLES, 32, format);
    short[] halves = new short[2 * 2];
    byte[] factors = new byte[2 * 16];
    new Random(SEED).nextBytes(factors);
    for (int i = 0; i < halves.length; i++) {
      halves[i] = Float.floatToFloat16(i - 1.25f);
    }
    SuperBlockScales scales = new SuperBlockScales(halves, factors);
    byte[] others = factors.clone();
    others[0]++;
    matrix.setTile(1, 2, new byte[2 * 512], scales, new SuperBlockScales(halves, others));
    for (int i = 0; i < factors.length; i++) {
      float half = i / 8 - 1.25f;
      assertThat(matrix.scale(16 + i / 16, i % 16)).isEqualTo(half * factors[i]);
      assertThat(matrix.minimum(16 + i / 16, i % 16)).isEqualTo(half * others[i]);
    }
  }

  @Test
  void whatAFormatCannotHoldIsRefused() {
    assertThatThrownBy(() -> halves(0).setTile(0, 1, new byte[64], new float[] {1, 0.1f}, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a scale of 0.1; expected a half's");
    assertThatThrownBy(
            () ->
                new QuantizedWeights(
                    arena,
                    1,
                    96,
                    WeightCodes.NIBBLES,
                    32,
                    new ScaleFormat(ScaleEncoding.PRODUCTS, false, 0)))
        .hasMessage("columns are 96; expected a multiple of 256 with scales that are products");
    assertThatThrownBy(
            () ->
                new QuantizedWeights(
                    arena,
                    1,
                    96,
                    WeightCodes.NIBBLES,
                    16,
                    new ScaleFormat(ScaleEncoding.HALVES, false, 0)))
        .hasMessage("groupLength is 16; expected 32 with a half for each scale");
    assertThatThrownBy(() -> new ScaleFormat(ScaleEncoding.HALVES, true, -8))
        .hasMessage("minimums are either stored or computed, not both");
    SuperBlockScales products = new SuperBlockScales(new short[1], new byte[2]);
    assertThatThrownBy(() -> halves(0).setTile(0, 1, new byte[64], products, null))
        .hasMessage("scales are not stored as products");
  }

  private QuantizedWeights halves(int minimumFactor) {
    ScaleFormat format = new ScaleFormat(ScaleEncoding.HALVES, false, minimumFactor);
    return new QuantizedWeights(arena, 2, 64, WeightCodes.NIBBLES, 32, format);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | 32 | 5 | 16 | groupLength is 16; expected 32 with 5 bits from 0",
        "1 | 32 | 6 | 32 | groupLength is 32; expected 16 with 6 bits from -32",
        "1 | 32 | 8 | 64 | groupLength is 64; expected 16 or 32",
        "0 | 32 | 8 | 32 | a matrix of 0 x 32; columns must be a multiple of 32",
        "1 | 0  | 8 | 32 | a matrix of 1 x 0; columns must be a multiple of 32",
        "1 | 48 | 4 | 16 | a matrix of 1 x 48; columns must be a multiple of 32"
      })
  void sizesThatItCannotHaveAreRefused(
      int rows, int columns, int bits, int group, String sentence) {
    assertThatThrownBy(
            () ->
                new QuantizedWeights(
                    arena, rows, columns, ReferenceWeights.coding(bits), group, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
    assertThat(arena.bytes()).isZero();
  }
}

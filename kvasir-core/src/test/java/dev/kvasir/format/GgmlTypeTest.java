package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgmlTypeTest {

  @ParameterizedTest
  @CsvSource({
    "F32, 0, 1, 4",
    "F16, 1, 1, 2",
    "Q4_0, 2, 32, 18",
    "Q4_1, 3, 32, 20",
    "Q5_0, 6, 32, 22",
    "Q5_1, 7, 32, 24",
    "Q8_0, 8, 32, 34",
    "Q2_K, 10, 256, 84",
    "Q3_K, 11, 256, 110",
    "Q4_K, 12, 256, 144",
    "Q5_K, 13, 256, 176",
    "Q6_K, 14, 256, 210",
    "Q8_K, 15, 256, 292",
    "IQ2_XXS, 16, 256, 66",
    "IQ2_XS, 17, 256, 74",
    "IQ3_XXS, 18, 256, 98",
    "IQ1_S, 19, 256, 50",
    "IQ4_NL, 20, 32, 18",
    "IQ3_S, 21, 256, 110",
    "IQ2_S, 22, 256, 82",
    "IQ4_XS, 23, 256, 136",
    "IQ1_M, 29, 256, 56",
    "BF16, 30, 1, 2",
    "TQ1_0, 34, 256, 54",
    "TQ2_0, 35, 256, 66",
    "MXFP4, 39, 32, 17",
    "NVFP4, 40, 64, 36",
    "Q1_0, 41, 128, 18",
    "Q2_0, 42, 64, 18"
  })
  void wireNumbersAndBlockSizesAreThoseOfTheFormat(
      GgmlType type, int wireNumber, int blockLength, int blockBytes) {
    assertThat(type.wireNumber()).isEqualTo(wireNumber);
    assertThat(type.blockLength()).isEqualTo(blockLength);
    assertThat(type.blockBytes()).isEqualTo(blockBytes);
    assertThat(type.bytesFor(0)).isZero();
    assertThat(type.bytesFor(blockLength)).isEqualTo(blockBytes);
    assertThat(type.bytesFor(1L << 40)).isEqualTo((1L << 40) / blockLength * blockBytes);
    assertThat(GgmlType.ofWireNumber(wireNumber)).contains(type);
  }

  @ParameterizedTest
  @CsvSource({
    "Q4_0, 32, true, true",
    "Q4_1, 32, true, true",
    "Q5_0, 32, false, false",
    "Q5_1, 32, false, true",
    "Q8_0, 32, false, false",
    "Q2_K, 16, true, true",
    "Q3_K, 16, true, true",
    "Q4_K, 32, true, true",
    "Q5_K, 32, false, true",
    "Q6_K, 16, false, false",
    "Q8_K, 32, false, false",
    "IQ2_XXS, 32, false, false",
    "IQ2_XS, 16, false, false",
    "IQ3_XXS, 32, false, false",
    "IQ1_S, 32, true, true",
    "IQ4_NL, 32, false, false",
    "IQ3_S, 32, true, true",
    "IQ2_S, 16, false, false",
    "IQ4_XS, 32, false, false",
    "IQ1_M, 16, true, true",
    "TQ1_0, 32, true, true",
    "TQ2_0, 32, true, true",
    "MXFP4, 32, false, false",
    "NVFP4, 16, false, false",
    "Q1_0, 32, true, true",
    "Q2_0, 32, true, true"
  })
  void quantizedTypesReportTheirGroups(
      GgmlType type, int groupLength, boolean hasNibbles, boolean hasMinimums) {
    BlockLayout layout = type.layout();
    assertThat(layout.groupLength()).isEqualTo(groupLength);
    assertThat(layout.groupsPerBlock()).isEqualTo(type.blockLength() / groupLength);
    assertThat(layout.hasNibbles()).isEqualTo(hasNibbles);
    assertThat(layout.hasMinimums()).isEqualTo(hasMinimums);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 4, 5, 9, 24, 28, 31, 33, 36, 38, 43, Integer.MAX_VALUE})
  void wireNumbersOfOtherTypesAreUnknown(int number) {
    assertThat(GgmlType.ofWireNumber(number)).isEmpty();
  }

  @Test
  void floatsAreTheTypesWithoutALayout() {
    EnumSet<GgmlType> floats = EnumSet.of(GgmlType.F32, GgmlType.F16, GgmlType.BF16);
    for (GgmlType type : GgmlType.values()) {
      assertThat(type.isFloat()).as(type.name()).isEqualTo(floats.contains(type));
      if (type.isFloat()) {
        assertThatIllegalStateException().isThrownBy(type::layout).withMessageContaining("float");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"Q4_0", "Q6_K"})
  void partialBlocksAreRefused(GgmlType type) {
    long values = type.blockLength() + 1;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> type.bytesFor(values))
        .withMessage(
            "values is %d, must be a non-negative multiple of %d for %s",
            values, type.blockLength(), type);
  }

  @ParameterizedTest
  @EnumSource
  void negativeCountsAreRefused(GgmlType type) {
    assertThatIllegalArgumentException().isThrownBy(() -> type.bytesFor(-type.blockLength()));
  }

  @ParameterizedTest
  @EnumSource(
      names = {"F32", "F16", "BF16", "Q8_0", "Q8_K"}) // types with at least 8 bits per value
  void bytesBeyondALongAreRefused(GgmlType type) {
    long mostBlocks = Long.MAX_VALUE / type.blockBytes();
    long most = mostBlocks * type.blockLength();
    assertThat(type.bytesFor(most)).isEqualTo(mostBlocks * type.blockBytes());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> type.bytesFor(most + type.blockLength()))
        .withMessage(
            "values is %d, must be at most %d for %s", most + type.blockLength(), most, type);
  }
}

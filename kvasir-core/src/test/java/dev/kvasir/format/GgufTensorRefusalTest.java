package dev.kvasir.format;

import static dev.kvasir.format.InMemoryFiles.refusalOfGguf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.format.GgufHeader.GgmlTypeNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rejection of GGUF files with invalid tensors. */
class GgufTensorRefusalTest {
  private static final int F32 = GgmlType.F32.wireNumber();

  @Test
  void aTensorThatAppearsTwiceIsRefused() {
    GgufWriter writer = new GgufWriter().floats("w", new float[1], 1).floats("w", new float[1], 1);
    assertThat(refusalOfGguf(writer.bytes())).isEqualTo("tensor 'w' appears twice");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5})
  void tooFewOrTooManyDimensionsAreRefused(int dimensions) {
    assertThat(refusalOfGguf(file(F32, 0, new long[dimensions])))
        .isEqualTo("tensor 'w' has %d dimensions; expected 1 to 4", dimensions);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "-1, 18446744073709551615"})
  void aDimensionOfNothingIsRefused(long size, String shown) {
    assertThat(refusalOfGguf(file(F32, 0, 4, size)))
        .isEqualTo("tensor 'w' has a dimension of %s; expected at least 1", shown);
  }

  @Test
  void dimensionsWhoseProductOverflowsAreRefused() {
    assertThat(refusalOfGguf(file(F32, 0, 1L << 32, 1L << 32)))
        .isEqualTo("tensor 'w': shape 4294967296 x 4294967296 is larger than any file");
    assertThat(refusalOfGguf(file(F32, 0, 1L << 62)))
        .isEqualTo("tensor 'w': shape 4611686018427387904 is larger than any file");
  }

  @ParameterizedTest
  @CsvSource({
    "9, 'Q8_1 (9)'",
    "28, 'F64 (28)'",
    "31, 'Q4_0_4_4 (31)'",
    "43, 'number 43, which is unknown'",
    "-1, 'number 4294967295, which is unknown'"
  })
  void aTypeThatIsNotReadIsNamed(int type, String shown) {
    assertThat(refusalOfGguf(file(type, 0, 32)))
        .isEqualTo("tensor 'w' has type %s; supported are %s", shown, GgmlTypeNames.supported());
  }

  @Test
  void aRowThatEndsInsideABlockIsRefused() {
    assertThat(refusalOfGguf(file(GgmlType.Q8_0.wireNumber(), 0, 16, 2)))
        .isEqualTo("tensor 'w' has rows of 16 values; Q8_0 needs a multiple of 32");
  }

  @ParameterizedTest
  @CsvSource({
    "64, 64",
    "32, 32",
    "9223372036854775776, 9223372036854775776",
    "-32, 18446744073709551584"
  })
  void anOffsetBeyondTheDataIsRefused(long offset, String shown) {
    assertThat(refusalOfGguf(file(F32, offset, 16)))
        .isEqualTo(
            "tensor 'w' lies at byte %s of the data and takes 64 bytes; the data has 64 bytes",
            shown);
  }

  @Test
  void aTensorLargerThanTheDataIsRefused() {
    assertThat(refusalOfGguf(file(F32, 0, 17)))
        .isEqualTo(
            "tensor 'w' lies at byte 0 of the data and takes 68 bytes; the data has 64 bytes");
  }

  @Test
  void anUnalignedOffsetIsRefused() {
    assertThat(refusalOfGguf(file(F32, 8, 4)))
        .isEqualTo("tensor 'w' lies at byte 8 of the data; expected a multiple of 32");
    byte[] file = new GgufWriter().alignment(64).entry("w", F32, 32, 4).data(new byte[64]).bytes();
    assertThat(refusalOfGguf(file))
        .isEqualTo("tensor 'w' lies at byte 32 of the data; expected a multiple of 64");
  }

  private static byte[] file(int type, long offset, long... sizes) {
    return new GgufWriter().entry("w", type, offset, sizes).data(new byte[64]).bytes();
  }
}

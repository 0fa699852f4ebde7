package dev.kvasir.format;

import static dev.kvasir.format.GgufWriter.FIRST_PAIR_AT;
import static dev.kvasir.format.GgufWriter.PAIR_COUNT_AT;
import static dev.kvasir.format.GgufWriter.TENSOR_COUNT_AT;
import static dev.kvasir.format.GgufWriter.VERSION_AT;
import static dev.kvasir.format.InMemoryFiles.refusalOfGguf;
import static dev.kvasir.format.LittleEndianBytes.withInt32;
import static dev.kvasir.format.LittleEndianBytes.withInt64;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rejection of invalid GGUF files; {@link GgufTensorRefusalTest} covers tensors. */
class GgufRefusalTest {
  private static final byte[] NO_PAIRS = new GgufWriter().bytes(); // padded to 32 bytes

  @Test
  void anotherMagicNumberIsRefused() {
    assertThat(refusalOfGguf("GGML and so on".getBytes()))
        .isEqualTo("is no GGUF file: it starts with 0x47474d4c instead of 0x47475546 ('GGUF')");
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "4, 4", "-1, 4294967295"})
  void anotherVersionIsRefused(int version, String shown) {
    assertThat(refusalOfGguf(new GgufWriter().version(version).bytes()))
        .isEqualTo("has GGUF version %s; expected 2 or 3".formatted(shown));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void aBigEndianFileIsRefused(int version) {
    assertThat(refusalOfGguf(withInt32(NO_PAIRS, VERSION_AT, Integer.reverseBytes(version))))
        .isEqualTo("is big-endian; only little-endian GGUF files are supported");
  }

  @Test
  void aFileThatEndsAfterAnyByteButItsLastIsRefused() {
    byte[] whole =
        new GgufWriter()
            .put("n", GgufValue.uint64(5))
            .put("s", GgufValue.strings("one", "two"))
            .put("a", GgufValue.array(GgufValue.array(GgufValue.float32(1), GgufValue.float32(2))))
            .floats("w", new float[] {1, 2, 3, 4}, 2, 2)
            .tensor("v", GgmlType.Q8_0, new byte[34], 32)
            .bytes();
    for (int length = 0; length < whole.length; length++) {
      assertThat(refusalOfGguf(Arrays.copyOf(whole, length))).as("%d bytes", length).isNotBlank();
    }
    InMemoryFiles.gguf(whole).close();
  }

  @Test
  void anEmptyFileIsRefused() {
    assertThat(refusalOfGguf())
        .isEqualTo(
            "truncated: the magic number at byte 0 needs 4 bytes, and the file ends at byte 0");
  }

  @ParameterizedTest
  @CsvSource({
    "-9223372036854775808, 9223372036854775808",
    "-1, 18446744073709551615",
    "4294967296, 4294967296",
    "1, 1"
  })
  void countsThatTheFileCannotHoldAreRefused(long count, String shown) {
    assertThat(refusalOfGguf(withInt64(NO_PAIRS, TENSOR_COUNT_AT, count)))
        .isEqualTo("the tensor count at byte 8 is %s; there is room for at most 0", shown);
    assertThat(refusalOfGguf(withInt64(NO_PAIRS, PAIR_COUNT_AT, count)))
        .isEqualTo("the metadata count at byte 16 is %s; there is room for at most 0", shown);
  }

  @ParameterizedTest
  @CsvSource({"-9223372036854775808, 9223372036854775808", "4294967296, 4294967296", "15, 15"})
  void lengthsOfStringsThatTheFileCannotHoldAreRefused(long length, String shown) {
    byte[] file = file(GgufValue.uint8(1)); // 38 bytes, padded to 64
    byte[] shortened = Arrays.copyOf(file, 46);
    assertThat(refusalOfGguf(withInt64(shortened, FIRST_PAIR_AT, length)))
        .isEqualTo(
            "the length of metadata key 0 at byte 24 is %s; there is room for at most 14", shown);
  }

  @ParameterizedTest
  @CsvSource({"-9223372036854775808, 9223372036854775808", "4294967296, 4294967296", "3, 3"})
  void lengthsOfArraysThatTheFileCannotHoldAreRefused(long count, String shown) {
    byte[] file = file(GgufValue.arrayOf(5, count));
    byte[] endsAfterTwo = Arrays.copyOf(file, FIRST_PAIR_AT + 9 + 4 + 12 + 8);
    assertThat(refusalOfGguf(endsAfterTwo))
        .isEqualTo("the length of 'k' at byte 41 is %s; there is room for at most 2", shown);
  }

  @Test
  void anUnknownTypeOfValueIsRefused() {
    assertThat(refusalOfGguf(file(new GgufValue(13, new byte[8]))))
        .isEqualTo("'k' has value type 13; expected 0 to 12");
    assertThat(refusalOfGguf(file(GgufValue.arrayOf(-1, 0))))
        .isEqualTo("'k' has value type 4294967295; expected 0 to 12");
  }

  @ParameterizedTest
  @CsvSource({"2, 2", "-1, 255"})
  void aBooleanThatIsNeitherIsRefused(byte value, String shown) {
    assertThat(refusalOfGguf(file(new GgufValue(7, new byte[] {value}))))
        .isEqualTo("'k' is %s; a boolean is 0 or 1", shown);
    assertThat(refusalOfGguf(file(GgufValue.arrayOf(7, 1, value))))
        .isEqualTo("'k' is %s; a boolean is 0 or 1", shown);
  }

  @Test
  void arraysNestedWithoutEndAreRefused() {
    GgufValue value = GgufValue.arrayOf(0, 0);
    for (int depth = 1; depth < 4; depth++) {
      value = GgufValue.array(value);
    }
    InMemoryFiles.gguf(file(value)).close();
    for (int depth = 4; depth < 100_000; depth *= 2) {
      LittleEndianBytes nested = new LittleEndianBytes();
      for (int i = 0; i < depth; i++) {
        nested.int32(GgufValue.ARRAY).int64(1);
      }
      GgufValue bomb = new GgufValue(GgufValue.ARRAY, nested.int32(0).int64(0).toArray());
      assertThat(refusalOfGguf(file(bomb))).isEqualTo("'k' nests arrays deeper than 4");
    }
  }

  @Test
  void aKeyThatAppearsTwiceIsRefused() {
    assertThat(refusalOfGguf(new GgufWriter().put("k", 1).put("k", "one").bytes()))
        .isEqualTo("metadata key 'k' appears twice");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 24, 48, 2_097_152})
  void anAlignmentThatIsNoneIsRefused(int alignment) {
    assertThat(refusalOfGguf(new GgufWriter().put("general.alignment", alignment).bytes()))
        .isEqualTo(
            "'general.alignment' is %d; expected a power of two from 8 to 1048576", alignment);
  }

  @Test
  void anAlignmentThatIsNoNumberIsRefused() {
    assertThat(refusalOfGguf(new GgufWriter().put("general.alignment", "32").bytes()))
        .isEqualTo("'general.alignment' is the string '32'; expected an integer");
  }

  @Test
  void onePartOfASplitModelIsRefusedInMemory() {
    assertThat(refusalOfGguf(new GgufWriter().put("split.count", GgufValue.uint16(3)).bytes()))
        .isEqualTo("is one of 3 parts; in memory, one file was expected");
  }

  @Test
  void namesFromTheFileAreShortenedInMessages() {
    String name = "\u001b[31m\r\n\u2028\u202e".repeat(1_000);
    assertThat(refusalOfGguf(new GgufWriter().put(name, 1).put(name, 1).bytes()))
        .hasSizeLessThan(200)
        .doesNotContain("\u2028", "\u202e");
    assertThat(refusalOfGguf(new GgufWriter().entry(name, 0, 0, 0).bytes())).hasSizeLessThan(200);
  }

  /** Returns a file with one pair, whose key is "k". */
  private static byte[] file(GgufValue value) {
    return new GgufWriter().put("k", value).bytes();
  }
}

package dev.kvasir.format;

import static dev.kvasir.format.InMemoryFiles.refusalOfSafetensors;
import static dev.kvasir.format.LittleEndianBytes.withInt64;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rejection of invalid safetensors files. */
class SafetensorsRefusalTest {
  @Test
  void aFileThatEndsAfterAnyByteButItsLastIsRefused() {
    byte[] whole =
        new SafetensorsWriter()
            .metadata("format", "pt")
            .floats("w", new float[4], 2, 2)
            .tensor("v", "BF16", new byte[6], 3)
            .bytes();
    for (int length = 0; length < whole.length; length++) {
      byte[] prefix = Arrays.copyOf(whole, length);
      assertThat(refusalOfSafetensors(prefix)).as("%d bytes", length).isNotBlank();
    }
    InMemoryFiles.safetensors(whole).close();
  }

  @Test
  void anEmptyFileIsRefused() {
    assertThat(refusalOfSafetensors())
        .isEqualTo(
            "truncated: the header length at byte 0 needs 8 bytes, and the file ends at byte 0");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "9, 9",
    "4294967296, 4294967296",
    "-9223372036854775808, 9223372036854775808",
    "-1, 18446744073709551615"
  })
  void aLyingHeaderLengthIsRefused(long length, String shown) {
    assertThat(refusalOfSafetensors(withInt64(SafetensorsWriter.file("{}"), 0, length)))
        .isEqualTo(
            "the header length is %s; expected 2 to 8, so this is no safetensors file or a"
                + " truncated one",
            shown);
  }

  @Test
  void aHeaderThatIsNotUtf8IsRefused() {
    byte[] file = SafetensorsWriter.file("{\"x\"}");
    file[10] = (byte) 0xC3;
    assertThat(refusalOfSafetensors(file)).isEqualTo("the header is not valid UTF-8");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "3", "null", "\"text\""})
  void aHeaderThatIsNoObjectIsRefused(String header) {
    assertThat(refusalOfSafetensors(SafetensorsWriter.file(header)))
        .startsWith("holds ")
        .endsWith("; expected a JSON object");
  }

  @Test
  void badJsonIsRefusedWithItsPosition() {
    assertThat(refusalOfSafetensors(SafetensorsWriter.file("{\"w\": }")))
        .isEqualTo("is not valid JSON: expected value at line 1 column 7");
  }

  @Test
  void aTensorThatAppearsTwiceIsRefused() {
    String entry = "\"w\": {\"dtype\": \"F32\", \"shape\": [], \"data_offsets\": [0, 4]}";
    String header = "{%s, %s}".formatted(entry, entry);
    assertThat(refusalOfSafetensors(SafetensorsWriter.file(header, new byte[4])))
        .isEqualTo("'w' appears twice in one JSON object");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "3                          | holds 3; expected a JSON object",
        "{}                         | 'dtype' is missing; expected a string",
        "{'dtype': 5}               | 'dtype' is 5; expected a string",
        "{'dtype': 'F32'}           | 'shape' is missing; expected an array of numbers",
        "{'dtype': 'F32', 'shape': 4} | 'shape' is 4; expected an array",
        "{'dtype': 'F32', 'shape': [4]} | 'data_offsets' is missing; expected an array of numbers",
      })
  void anEntryThatLacksSomethingIsRefused(String entry, String sentence) {
    assertThat(refusalOfEntry(entry.replace('\'', '"'))).isEqualTo(sentence);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "1.5", "\"4\"", "[4]", "null", "true", "{}", "9223372036854775808"})
  void aSizeThatIsNoWholeNumberIsRefused(String size) {
    assertThat(refusalOfEntry(entry("F32", "[%s]".formatted(size), "[0, 16]")))
        .startsWith("'shape' holds ")
        .endsWith("; expected whole numbers of at least 0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[16, 0]", "[0, 17]", "[8, 9223372036854775807]", "[0]", "[]", "[0,1,2]"})
  void offsetsOutsideTheDataAreRefused(String offsets) {
    assertThat(refusalOfEntry(entry("F32", "[4]", offsets)))
        .isEqualTo(
            "'data_offsets' is %s; expected begin and end within the 16 bytes of data",
            offsets.replace(" ", ""));
  }

  @Test
  void offsetsThatDoNotMatchTheShapeAreRefused() {
    assertThat(refusalOfEntry(entry("F32", "[2, 2]", "[0, 12]")))
        .isEqualTo("shape 2 x 2 of F32 takes 16 bytes; 'data_offsets' span 12");
    assertThat(refusalOfEntry(entry("BF16", "[]", "[0, 4]")))
        .isEqualTo("shape scalar of BF16 takes 2 bytes; 'data_offsets' span 4");
  }

  @Test
  void sizesWhoseProductOverflowsAreRefused() {
    assertThat(refusalOfEntry(entry("F32", "[4294967296, 4294967296]", "[0, 0]")))
        .isEqualTo("shape 4294967296 x 4294967296 is larger than any file");
    assertThat(refusalOfEntry(entry("F32", "[4611686018427387904]", "[0, 0]")))
        .isEqualTo("shape 4611686018427387904 is larger than any file");
  }

  @Test
  void tooManyDimensionsAreRefused() {
    assertThat(refusalOfEntry(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0, 4]")))
        .isEqualTo("has 9 dimensions; expected at most 8");
  }

  @Test
  void tensorsThatShareBytesAreRefused() {
    String header =
        "{\"v\": %s, \"w\": %s}"
            .formatted(entry("F32", "[2]", "[4, 12]"), entry("I32", "[2]", "[0, 8]"));
    assertThat(refusalOfSafetensors(SafetensorsWriter.file(header, new byte[16])))
        .isEqualTo("tensor 'v' begins at byte 4 of the data, inside tensor 'w' that ends at 8");
  }

  @Test
  void metadataThatIsNoTextIsRefused() {
    assertThat(refusalOfSafetensors(SafetensorsWriter.file("{\"__metadata__\": 3}")))
        .isEqualTo("'__metadata__' is 3; expected an object");
    byte[] file = SafetensorsWriter.file("{\"__metadata__\": {\"n\": 3}}");
    assertThat(
            InMemoryFiles.refusal(
                "tiny.safetensors '__metadata__'", InMemoryFiles.thrownBySafetensors(file)))
        .isEqualTo("'n' is 3; expected a string");
  }

  @Test
  void namesFromTheFileAreShortenedInMessages() {
    String name = "\\u001b\\n\\u2028".repeat(1_000);
    String header = "{\"%s\": {\"dtype\": [\"%s\"]}}".formatted(name, name);
    assertThat(refusalOfSafetensors(SafetensorsWriter.file(header)))
        .hasSizeLessThan(200)
        .doesNotContain("\u2028");
  }

  private static String entry(String dtype, String shape, String offsets) {
    return "{\"dtype\": \"%s\", \"shape\": %s, \"data_offsets\": %s}"
        .formatted(dtype, shape, offsets);
  }

  /** Returns the error for tensor 'w' in a file with 16 bytes of data. */
  private static String refusalOfEntry(String entry) {
    byte[] file = SafetensorsWriter.file("{\"w\": %s}".formatted(entry), new byte[16]);
    return InMemoryFiles.refusal(
        "tiny.safetensors: tensor 'w'", InMemoryFiles.thrownBySafetensors(file));
  }
}

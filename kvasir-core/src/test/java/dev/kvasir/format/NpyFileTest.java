package dev.kvasir.format;

import static dev.kvasir.format.InMemoryFiles.refusalOfNpy;
import static dev.kvasir.format.NpyBytes.file;
import static dev.kvasir.format.NpyBytes.floats;
import static dev.kvasir.format.NpyBytes.header;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyFileTest {
  private static final String HEADER = header("'<f4'", "False", "(1, 2, 3)");

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void everyVersionIsRead(int version) {
    float[] values = {1, -2, 3.5f, 4, 5, Float.MIN_VALUE};
    byte[] bytes = file(version, HEADER, LittleEndianBytes.ofFloats(values));
    try (NpyFile file = InMemoryFiles.npy(bytes)) {
      assertThat(file.tensor().shape()).containsExactly(1, 2, 3);
      assertThat(file.tensor().toFloats()).containsExactly(values);
      assertThat(file.tensor().name()).isEqualTo("tiny.npy");
    }
  }

  @Test
  void otherWaysToWriteTheSameHeaderAreRead() {
    List<String> headers =
        List.of(
            "{\"shape\":(1,2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
            "  { 'fortran_order' : False , 'shape' : ( 1L , 2L, 3L ,) , 'descr' : '<f4' }  \n\n");
    for (String header : headers) {
      try (NpyFile file = InMemoryFiles.npy(file(1, header, new byte[24]))) {
        assertThat(file.tensor().shape()).as(header).containsExactly(1, 2, 3);
      }
    }
  }

  @Test
  void scalarsVectorsAndEmptyArraysAreRead() {
    try (NpyFile scalar = InMemoryFiles.npy(floats("()", 7));
        NpyFile vector = InMemoryFiles.npy(floats("(2,)", 8, 9));
        NpyFile empty = InMemoryFiles.npy(floats("(3, 0, 4)"))) {
      assertThat(scalar.tensor().toFloats()).containsExactly(7);
      assertThat(vector.tensor().toFloats()).containsExactly(8, 9);
      assertThat(empty.tensor().shape()).containsExactly(3, 0, 4);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"'>f4'", "'<f2'", "'<f8'", "'|O'", "'<i4'", "'|V2'", "''"})
  void otherDtypesAreNamed(String descr) {
    assertThat(refusalOfNpy(file(1, header(descr, "False", "(1,)"), new byte[4])))
        .startsWith("its dtype is %s; expected '<f4'".formatted(descr));
  }

  @Test
  void recordsAreNamedToo() {
    String header = header("[('a', '<f4'), ('b', '<i4')]", "False", "(1,)");
    assertThat(refusalOfNpy(file(1, header, new byte[8])))
        .isEqualTo("its dtype is [('a', '<f4'), ('b', '<i4')]; expected '<f4'");
    assertThat(refusalOfNpy(file(1, "{'descr': " + "[".repeat(60_000))))
        .startsWith("its dtype is [")
        .hasSizeLessThan(200);
  }

  @Test
  void fortranOrderIsRefused() {
    assertThat(refusalOfNpy(file(1, header("'<f4'", "True", "(1, 2, 3)"), new byte[24])))
        .startsWith("fortran_order is True; expected C order");
  }

  @Test
  void theSizeMustBeThatOfTheShape() {
    assertThat(refusalOfNpy(floats("(2, 3)", 1, 2, 3, 4, 5)))
        .isEqualTo(
            "shape 2 x 3 takes 24 bytes; the file holds 20 after its head, so it is truncated");
    assertThat(refusalOfNpy(floats("(2,)", 1, 2, 3)))
        .isEqualTo("shape 2 takes 8 bytes; the file holds 12 after its head");
    assertThat(refusalOfNpy(floats("(999999999999, 999999999999)")))
        .isEqualTo("shape 999999999999 x 999999999999 is larger than any file");
  }

  @Test
  void otherFilesAreRefused() {
    assertThat(refusalOfNpy()).startsWith("truncated: the magic number at byte 0");
    assertThat(refusalOfNpy("PK\3\4....".getBytes())).startsWith("is a zip archive, as .npz");
    assertThat(refusalOfNpy("GGUF....".getBytes())).startsWith("does not begin with 93 'NUMPY'");
    assertThat(refusalOfNpy(file(4, HEADER)))
        .isEqualTo("is npy version 4.0; supported are 1.0, 2.0, 3.0");
    assertThat(refusalOfNpy(Arrays.copyOf(file(1, HEADER), 9))).startsWith("truncated: the header");
    assertThat(refusalOfNpy(Arrays.copyOf(file(1, HEADER), 40)))
        .isEqualTo("the header length is 63; expected at most 30");
    assertThat(refusalOfNpy(file(2, " ".repeat(70_000))))
        .isEqualTo("the header length is 70000; expected at most 65535");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "\"\"                              | character 0 of the header is its end; expected {",
        "{}                                | the header lacks one of",
        "{'descr': '<f4'}                  | the header lacks one of",
        "{'descr': '<f4                    | the header has a string that does not end",
        "{'descr' '<f4'}                   | character 9 of the header is '''; expected :",
        "{'dtype': '<f4'}                  | the header has the unknown key 'dtype'",
        "{'descr': '<f4', 'descr': '<f4'}  | the header has 'descr' twice",
        "{'fortran_order': 0}              | character 18 of the header is '0'; expected False",
        "{'shape': 3}                      | character 10 of the header is '3'; expected (",
        "{'shape': (1 2)}                  | character 13 of the header is '2'; expected )",
        "{'shape': (-1,)}                  | character 11 of the header is '-'; expected a whole",
        "{'shape': (1111111111111111111,)} | character 11 of the header is '1'; expected a whole",
        "{} x                              | character 3 of the header is 'x'; expected nothing"
      })
  void aMalformedHeaderIsRefused(String header, String sentence) {
    assertThat(refusalOfNpy(file(1, header))).startsWith(sentence);
  }

  @Test
  void tooManyDimensionsAreRefused() {
    assertThat(refusalOfNpy(floats("(%s)".formatted("1,".repeat(65)), 1)))
        .isEqualTo("has more than 64 dimensions");
  }

  @Property(seed = "4719", tries = 4_000)
  void editedFilesAreReadOrRefused(@ForAll("edits") List<Corruption> edits) {
    byte[] valid = NpyBytes.floats("(1, 2, 3)", 1, 2, 3, 4, 5, 6);
    byte[] edited = Corruption.all(edits, valid);
    long before = AllocatedBytes.bytes();
    try (NpyFile file = InMemoryFiles.npy(edited)) {
      assertThat(file.tensor().data().byteSize()).isEqualTo(4 * file.tensor().values());
    } catch (InvalidInputException refusal) {
      assertThat(refusal.getMessage()).startsWith("tiny.npy: ").hasSizeLessThan(300);
    }
    assertThat(AllocatedBytes.bytes() - before).isLessThan(1 << 20);
  }

  @Provide
  Arbitrary<List<Corruption>> edits() {
    Arbitrary<Corruption> any =
        Arbitraries.oneOf(
            Corruption.flips(),
            Corruption.truncations(),
            Corruption.insertions(),
            Corruption.jsonInsertions(),
            Corruption.deletions(),
            Corruption.overwrites());
    return any.list().ofMinSize(1).ofMaxSize(4);
  }
}

package dev.kvasir.format;

import static dev.kvasir.format.GgufWriter.partName;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading of split models, and errors that name the faulty file. */
class GgufPartsTest {
  @TempDir Path folder;

  /** Writes tensors a to c, one per part; the last part has a different alignment. */
  @BeforeEach
  void writeParts() {
    write(0, new GgufWriter().put("general.name", "tiny").part(0, 3, 3), "a");
    write(1, new GgufWriter().part(1, 3, 3), "b");
    write(2, new GgufWriter().part(2, 3, 3).alignment(64), "c");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void anyPartOpensAll(int given) {
    try (GgufFile file = GgufFile.open(part(given))) {
      assertThat(file.name()).isEqualTo(part(0).toString());
      assertThat(file.metadata().requireString("general.name")).isEqualTo("tiny");
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("a", "b", "c");
      for (String name : new String[] {"a", "b", "c"}) {
        assertThat(file.require(name, 2).toFloats()).containsExactly(name.charAt(0), 7);
      }
    }
  }

  @Test
  void aFileWithTheSamePrefixIsNotAPart() throws IOException {
    Path alone = Files.writeString(folder.resolve("tiny-vision.gguf"), "");
    Files.writeString(folder.resolve("tiny-00001-of-00004.gguf"), "");
    assertThat(GgufFile.parts(part(1))).containsExactly(part(0), part(1), part(2));
    assertThat(GgufFile.parts(alone)).containsExactly(alone);
  }

  @Test
  void allPartsAreMappedUntilTheModelIsClosed() throws IOException {
    GgufFile file = GgufFile.open(part(1));
    Tensor last = file.require("c", 2);
    assertMapped(true);
    file.close();
    assertMapped(false);
    assertThatThrownBy(last::toFloats).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theFirstPartMayContainOnlyMetadata() {
    write(0, new GgufWriter().part(0, 2, 1));
    Path first = rename(part(0), partName(0, 2));
    new GgufWriter()
        .part(1, 2, 1)
        .floats("w", new float[1], 1)
        .writeTo(folder.resolve(partName(1, 2)));
    try (GgufFile file = GgufFile.open(first)) {
      assertThat(file.tensors()).hasSize(1);
    }
  }

  @Test
  void onlyTheFirstPartNeedsTheNumberOfTensors() {
    write(1, partWriter(1, 3), "b");
    GgufFile.open(part(0)).close();
    write(0, partWriter(0, 3), "a");
    assertThat(refusal(2, 0)).isEqualTo("'split.tensors.count' is missing; expected an integer");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aMergedFileIsComplete(int count) {
    write(0, new GgufWriter().put("split.count", GgufValue.uint16(count)), "a");
    try (GgufFile file = GgufFile.open(part(0))) {
      assertThat(file.tensors()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aMissingPartIsNamed(int missing) throws IOException {
    Files.delete(part(missing));
    int given = missing == 0 ? 1 : 0;
    assertThat(refusal(given, missing))
        .isEqualTo("no such file; %s is one of 3 parts", part(given));
  }

  @Test
  void aPartOfAnotherNumberIsRefused() {
    write(1, new GgufWriter().part(2, 3, 3), "b");
    String sentence = "'split.no' is 2; by its name, 1 was expected";
    assertThat(refusal(0, 1)).isEqualTo(sentence);
    assertThat(refusal(1, 1)).isEqualTo(sentence);
    write(1, new GgufWriter().put("split.count", 3), "b");
    assertThat(refusal(0, 1)).isEqualTo("'split.no' is missing; expected an integer");
    assertThat(refusal(1, 1)).isEqualTo("'split.no' is missing; expected an integer");
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 4, 65_535})
  void aPartBeyondTheLastIsRefused(int index) {
    Path file = rename(write(1, new GgufWriter().part(index, 3, 3), "b"), partName(index, 3));
    assertThat(refusalNaming(file, file))
        .isEqualTo("'split.no' is %d; expected 0 to 2".formatted(index));
  }

  @Test
  void aPartOfAModelInAnotherNumberOfPartsIsRefused() {
    write(1, new GgufWriter().part(1, 4, 3), "b");
    String sentence = "'split.count' is 4; by its name, 3 was expected";
    assertThat(refusal(0, 1)).isEqualTo(sentence);
    assertThat(refusal(1, 1)).isEqualTo(sentence);
    write(1, new GgufWriter(), "b");
    assertThat(refusal(0, 1)).isEqualTo("'split.count' is missing; expected an integer");
    write(1, new GgufWriter().put("split.count", "three"), "b");
    assertThat(refusal(0, 1)).isEqualTo("'split.count' is the string 'three'; expected an integer");
  }

  @Test
  void aPartOfAModelWithAnotherNumberOfTensorsIsRefused() {
    write(1, new GgufWriter().part(1, 3, 5), "b");
    assertThat(refusal(0, 1)).isEqualTo("'split.tensors.count' is 5; %s says 3", part(0));
  }

  @Test
  void partsWithMoreOrFewerTensorsThanTheySayAreRefused() {
    write(1, new GgufWriter().part(1, 3, 3), "b", "d");
    assertThat(refusal(1, 0)).isEqualTo("'split.tensors.count' is 3; its 3 parts hold 4 tensors");
    write(1, new GgufWriter().part(1, 3, 3));
    assertThat(refusal(1, 0)).isEqualTo("'split.tensors.count' is 3; its 3 parts hold 2 tensors");
    write(0, partWriter(0, 3).put("split.tensors.count", GgufValue.int32(-3)), "a");
    assertThat(refusal(0, 0)).isEqualTo("'split.tensors.count' is -3; expected 0 to 2147483647");
  }

  @Test
  void aTensorInTwoPartsIsRefused() {
    write(2, new GgufWriter().part(2, 3, 3), "a");
    assertThat(refusal(0, 2)).isEqualTo("tensor 'a' appears in %s as well", part(0));
  }

  @Test
  void aBrokenPartIsNamed() throws IOException {
    Files.write(part(2), new byte[100]);
    assertThat(refusal(0, 2)).startsWith("is no GGUF file: it starts with 0x00000000");
    Files.delete(part(2));
    Files.createDirectory(part(2));
    assertThat(refusal(0, 2)).isEqualTo("is a folder; a file was expected");
  }

  @ParameterizedTest
  @ValueSource(strings = {"model.gguf", "tiny-2-of-3.gguf", "-00002-of-00003.gguf", "tiny-00002"})
  void aPartWithoutAPartNameIsRefused(String name) {
    Path file = rename(part(1), name);
    assertThat(refusalNaming(file, file))
        .isEqualTo(
            "is part 2 of 3; the others are found by its name, which must end with"
                + " -00002-of-00003.gguf");
  }

  private Path part(int index) {
    return folder.resolve(partName(index, 3));
  }

  private static GgufWriter partWriter(int index, int count) {
    return new GgufWriter()
        .put("split.no", GgufValue.uint16(index))
        .put("split.count", GgufValue.uint16(count));
  }

  private Path write(int index, GgufWriter writer, String... tensors) {
    for (String name : tensors) {
      writer.floats(name, new float[] {name.charAt(0), 7}, 2);
    }
    return writer.writeTo(part(index));
  }

  private static Path rename(Path file, String name) {
    try {
      return Files.move(file, file.resolveSibling(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the error about one part when another is opened, and checks that nothing stays mapped.
   */
  private String refusal(int given, int named) {
    String sentence = refusalNaming(part(given), part(named));
    try {
      assertMapped(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return sentence;
  }

  private static String refusalNaming(Path given, Path named) {
    return InMemoryFiles.refusal(named.toString(), catchThrowable(() -> GgufFile.open(given)));
  }

  private void assertMapped(boolean mapped) throws IOException {
    for (int index = 0; index < 3; index++) {
      if (Files.exists(part(index))) {
        assertThat(Mappings.hold(part(index))).isEqualTo(mapped);
      }
    }
  }
}

package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * For any content of one part, a split model is rejected with an error that names a part, or all
 * its tensors are readable.
 */
class GgufPartsFuzzTest {
  private static final int PARTS = 3;
  private static final long MAX_ALLOCATED_BYTES = 1 << 20;
  private static final List<byte[]> VALID =
      IntStream.range(0, PARTS).mapToObj(GgufPartsFuzzTest::valid).toList();

  private static Path folder;

  @BeforeContainer
  static void makeFolder() throws IOException {
    folder = Files.createTempDirectory("parts");
    writeAll();
    GgufFile.open(part(0)).close(); // loads classes before memory is measured
  }

  @AfterContainer
  static void deleteFolder() throws IOException {
    for (int index = 0; index < PARTS; index++) {
      Files.deleteIfExists(part(index));
    }
    Files.delete(folder);
  }

  @Property(seed = "4721", tries = 400)
  void anEditedPartIsReadOrRefused(
      @ForAll @IntRange(max = PARTS - 1) int given,
      @ForAll @IntRange(max = PARTS - 1) int edited,
      @ForAll("edits") List<Corruption> edits)
      throws IOException {
    writeAll();
    Files.write(part(edited), Corruption.all(edits, VALID.get(edited)));
    readOrRefuse(part(given));
  }

  @Property(seed = "4722", tries = 150)
  void partsInAnyOrderAreReadOrRefused(
      @ForAll @IntRange(max = PARTS - 1) int given,
      @ForAll @IntRange(max = PARTS) int first,
      @ForAll @IntRange(max = PARTS) int second,
      @ForAll @IntRange(max = PARTS) int third)
      throws IOException {
    int[] order = {first, second, third};
    for (int index = 0; index < PARTS; index++) {
      Files.deleteIfExists(part(index));
      if (order[index] < PARTS) {
        Files.write(part(index), VALID.get(order[index]));
      }
    }
    boolean valid = first == 0 && second == 1 && third == 2;
    assertThat(readOrRefuse(part(given))).isEqualTo(valid);
  }

  @Provide
  Arbitrary<List<Corruption>> edits() {
    Arbitrary<Corruption> any =
        Arbitraries.oneOf(
            Corruption.flips(),
            Corruption.truncations(),
            Corruption.insertions(),
            Corruption.deletions(),
            Corruption.overwrites());
    return any.list().ofMinSize(1).ofMaxSize(4);
  }

  private static boolean readOrRefuse(Path given) {
    long before = AllocatedBytes.bytes();
    try (GgufFile opened = GgufFile.open(given)) {
      assertThat(AllocatedBytes.bytes() - before).isLessThan(MAX_ALLOCATED_BYTES);
      for (Tensor tensor : opened.tensors()) {
        assertThat(tensor.toFloats()).hasSize((int) tensor.values());
      }
      return true;
    } catch (InvalidInputException refusal) {
      assertThat(AllocatedBytes.bytes() - before).isLessThan(MAX_ALLOCATED_BYTES);
      assertThat(refusal.getMessage()).hasSizeLessThan(1_000);
      assertThat(refusal.getMessage().chars().anyMatch(Character::isISOControl)).isFalse();
      assertThat(Stream.of(0, 1, 2)).anyMatch(i -> refusal.getMessage().startsWith(part(i) + ": "));
      return false;
    }
  }

  private static void writeAll() throws IOException {
    for (int index = 0; index < PARTS; index++) {
      Files.write(part(index), VALID.get(index));
    }
  }

  private static Path part(int index) {
    return folder.resolve(GgufWriter.partName(index, PARTS));
  }

  private static byte[] valid(int index) {
    return new GgufWriter()
        .part(index, PARTS, 2 * PARTS)
        .floats("a" + index, new float[] {1, 2, 3, 4}, 2, 2)
        .tensor("b" + index, GgmlType.Q8_0, new byte[34], 32)
        .bytes();
  }
}

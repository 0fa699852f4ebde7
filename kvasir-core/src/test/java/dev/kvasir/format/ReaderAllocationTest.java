package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A declared size alone must not cause an allocation. */
class ReaderAllocationTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final long[] LIES = {
    1, 8, 40, 1_000, Integer.MAX_VALUE, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, -1
  };

  @TempDir Path folder;

  @BeforeAll
  static void loadClasses() {
    allocatedByOpening(new byte[100]);
  }

  @Test
  void aKibibyteWithAnyNumberAnywhereTakesLessThanAMebibyte() {
    GgufValue strings = GgufValue.strings("one", "two", "three");
    GgufWriter writer =
        new GgufWriter()
            .put("strings", strings)
            .put("nested", GgufValue.array(GgufValue.array(strings, strings), strings))
            .put("bytes", GgufValue.arrayOf(0, 100, new byte[100]));
    byte[] file = writer.floats("w", new float[150], 150).bytes();
    assertThat(file).hasSizeBetween(900, 1_100);
    for (int at = 0; at <= file.length - 8; at++) {
      for (long lie : LIES) {
        assertThat(allocatedByOpening(LittleEndianBytes.withInt64(file, at, lie)))
            .as("%d at byte %d", lie, at)
            .isLessThan(MEBIBYTE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void anArrayWithAFalseLengthTakesNoMoreThanTheFileCouldContain(int elementType) {
    for (long count = 1; count <= 2_048; count += 5) {
      GgufValue lie = GgufValue.arrayOf(elementType, count, new byte[900]);
      assertThat(allocatedByOpening(new GgufWriter().put("k", lie).bytes())).isLessThan(MEBIBYTE);
    }
  }

  /** Messages must not be built for every element that is read successfully. */
  @Test
  void aLongKeyIsNotCopiedForEachOfManyArrays() {
    int arrays = 20_000;
    byte[] elements = new byte[12 * arrays]; // each: type 0, no elements
    String key = "k".repeat(250_000);
    GgufWriter writer = new GgufWriter();
    byte[] file = writer.put(key, GgufValue.arrayOf(GgufValue.ARRAY, arrays, elements)).bytes();
    assertThat(allocatedByOpening(file)).isLessThan(64 * MEBIBYTE);
  }

  @Test
  void aSparseFileCannotFillTheHeap() throws IOException {
    byte[] head = new GgufWriter().put("k", GgufValue.arrayOf(0, Integer.MAX_VALUE)).bytes();
    Path file = folder.resolve("sparse.gguf");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(5L << 30);
      sparse.write(head);
    }
    long before = AllocatedBytes.bytes();
    Throwable thrown = catchThrowable(() -> GgufFile.open(file));
    assertThat(AllocatedBytes.bytes() - before).isLessThan(MEBIBYTE);
    assertThat(InMemoryFiles.refusal(file.toString(), thrown))
        .isEqualTo(
            "the length of 'k' at byte 41 is 2147483647; there is room for at most 67108815");
  }

  @Test
  void anOverlongHeaderIsRefused() {
    int most = 64 * MEBIBYTE;
    int stringAt = GgufWriter.FIRST_PAIR_AT + 9 + 4 + 8;
    LittleEndianBytes length = new LittleEndianBytes().int64(most - 4 - stringAt);
    GgufWriter writer =
        new GgufWriter().put("k", new GgufValue(GgufValue.STRING, length.toArray()));
    byte[] file = Arrays.copyOf(writer.bytes(), most + MEBIBYTE);
    byte[] ofTwoPairs = LittleEndianBytes.withInt64(file, GgufWriter.PAIR_COUNT_AT, 2);
    assertThat(InMemoryFiles.refusalOfGguf(ofTwoPairs))
        .isEqualTo(
            "the length of metadata key 1 at byte 67108860 needs 8 bytes, and the head of a file may"
                + " take at most 67108864");
  }

  private static long allocatedByOpening(byte[] file) {
    long before = AllocatedBytes.bytes();
    try {
      InMemoryFiles.gguf(file).close();
    } catch (InvalidInputException refusal) {
      assertThat(refusal).hasMessageStartingWith("tiny.gguf: ");
    }
    return AllocatedBytes.bytes() - before;
  }
}

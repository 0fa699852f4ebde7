package dev.kvasir.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.InMemoryFiles;
import dev.kvasir.format.Mappings;
import dev.kvasir.format.SafetensorsBytes;
import dev.kvasir.format.SafetensorsFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Profiles larger than an array or an int can count. Their files are sparse: holes take no disk
 * space, and no test reads them.
 */
class LargeProfileTest {
  /** Halves of codebooks: five gibibytes, more of them than an array holds. */
  private static final long[] SHAPE = {5, 1 << 29};

  private static final long COUNT = 5L << 29;
  private static final long BYTES = Short.BYTES * COUNT;

  private static final String JSON_START =
      "{\"__metadata__\":{\"kvasir.model\":\"abc\",\"kvasir.profile\":\"1\"},";

  @TempDir private Path folder;

  @Test
  void numbersBeyondTwoGibibytesAreReadInPlace() throws IOException {
    Profile profile = Profile.open(large());
    assertThat(profile.parts()).containsExactly("large", "small");
    assertThat(profile.slice("large/rows", 0, 2, SHAPE)).containsExactly(1, 0);
    assertThat(profile.slice("large/rows", COUNT / 2 - 1, 3, SHAPE)).containsExactly(0, 2, 0);
    assertThat(profile.slice("large/rows", COUNT - 2, 2, SHAPE)).containsExactly(0, 3);
    assertThat(profile.floats("small/last", 2)).containsExactly(4, 5);
  }

  @Test
  void moreNumbersThanAnArrayHoldsAreRefused() throws IOException {
    Path file = large();
    Profile profile = Profile.open(file);
    profile.require("large/rows", SHAPE);
    assertThat(
            InMemoryFiles.refusal(
                file.toString(), catchThrowable(() -> profile.floats("large/rows", SHAPE))))
        .isEqualTo(
            "'large/rows' has 2684354560 numbers to be read at once; expected at most 2147483639,"
                + " which an array holds");
  }

  @Test
  void aSliceEndsWhereItsNumbersEnd() throws IOException {
    Profile profile = Profile.open(large());
    assertThatThrownBy(() -> profile.slice("large/rows", COUNT - 1, 2, SHAPE))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> profile.slice("large/rows", -1, 2, SHAPE))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aFileThatEndsBeforeItsNumbersIsRefused() throws IOException {
    Path file = large();
    try (SparseFile sparse = new SparseFile(file)) {
      sparse.length(sparse.length() - 1);
    }
    assertThatThrownBy(() -> Profile.open(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("expected begin and end within the %d bytes of data", BYTES + 7);
  }

  @Test
  void whatIsWrittenHasEveryByteAtItsPlace() throws IOException {
    Path file = large();
    try (SafetensorsFile opened = SafetensorsFile.open(file)) {
      CountingChannel channel = new CountingChannel();
      SafetensorsBytes.write(opened.tensors(), opened.metadata(), channel);
      assertThat(channel.head()).isEqualTo(head());
      assertThat(channel.dataBytes).isEqualTo(BYTES + 2 * Float.BYTES);
      assertThat(channel.largestPiece).isLessThanOrEqualTo(1 << 20);
    }
  }

  /** Any file above 64 MiB stays mapped, so this one needs no two gibibytes. */
  @Test
  void aMappedProfileMayBeOverwritten() throws IOException {
    long values = 17L << 20;
    Path file = folder.resolve("p.profile");
    try (SparseFile sparse = new SparseFile(file)) {
      sparse.write(
          0, framed(JSON_START + entry("a/rows", "F32", "[%d]", values, 0, 4 * values) + "}"));
      sparse.length(sparse.length() + 4 * values);
    }
    Profile first = Profile.open(file);
    assertThat(Mappings.hold(file)).isTrue();
    first.with("b/more", new float[] {7}, 1).write(file);
    assertThat(Profile.open(file).floats("b/more", 1)).containsExactly(7);
    assertThat(Profile.open(file).slice("a/rows", values - 1, 1, values)).containsExactly(0);
    assertThat(first.has("b")).isFalse();
    assertThat(first.slice("a/rows", values - 1, 1, values)).containsExactly(0);
  }

  @Test
  void aSmallProfileLeavesItsFileAlone() throws IOException {
    Path file = folder.resolve("p.profile");
    Profile.empty("abc").with("a/b", new float[] {1}, 1).write(file);
    Profile read = Profile.open(file);
    assertThat(Mappings.hold(file)).isFalse();
    assertThat(read.floats("a/b", 1)).containsExactly(1);
  }

  private static String entry(
      String name, String dtype, String shape, long size, long begin, long end) {
    return "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
        .formatted(name, dtype, shape.formatted(size), begin, end);
  }

  private static byte[] head() {
    String rows = entry("large/rows", "F16", "[5,%d]", 1 << 29, 0, BYTES);
    String last = entry("small/last", "F32", "[%d]", 2, BYTES, BYTES + 8);
    return framed(JSON_START + rows + "," + last + "}");
  }

  private static byte[] framed(String json) {
    String padded = json + " ".repeat(-json.length() & 7);
    ByteBuffer head = ByteBuffer.allocate(8 + padded.length()).order(ByteOrder.LITTLE_ENDIAN);
    return head.putLong(padded.length()).put(padded.getBytes(StandardCharsets.US_ASCII)).array();
  }

  /** Creates holes except for the first, a middle and the last half, and two floats after them. */
  private Path large() throws IOException {
    Path file = folder.resolve("large.profile");
    byte[] head = head();
    try (SparseFile sparse = new SparseFile(file)) {
      sparse.write(0, head);
      sparse.half(head.length, 1);
      sparse.half(head.length + BYTES / 2, 2);
      sparse.half(head.length + BYTES - Short.BYTES, 3);
      ByteBuffer floats = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
      sparse.write(head.length + BYTES, floats.putFloat(4).putFloat(5).array());
    }
    return file;
  }

  /** Counts bytes without reading them, since they may be holes. */
  private static final class CountingChannel implements WritableByteChannel {
    private final ByteBuffer head = ByteBuffer.allocate(LargeProfileTest.head().length);
    private long dataBytes;
    private int largestPiece;

    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      if (head.hasRemaining()) {
        head.put(source);
      } else {
        source.position(source.limit());
        dataBytes += count;
        largestPiece = Math.max(largestPiece, count);
      }
      return count;
    }

    byte[] head() {
      return head.array();
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}

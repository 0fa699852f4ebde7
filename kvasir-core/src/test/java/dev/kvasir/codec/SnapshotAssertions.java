package dev.kvasir.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/** Assertions and data for snapshots. */
public final class SnapshotAssertions {
  private static final int CHECKSUM_BYTES = 4;

  private SnapshotAssertions() {}

  /**
   * Asserts the exact bytes of a snapshot. Files in this format exist, so the bytes must never
   * change. The checksum covers those that are not listed.
   *
   * @param begin the first bytes in hexadecimal digits, spaces ignored
   * @param checksum the last bytes
   */
  public static void assertBytes(byte[] snapshot, int bytes, String checksum, String... begin) {
    String expected = String.join("", begin).replace(" ", "");
    HexFormat hex = HexFormat.of();
    assertThat(hex.formatHex(snapshot, 0, expected.length() / 2)).isEqualTo(expected);
    assertThat(snapshot).hasSize(bytes);
    assertThat(hex.formatHex(snapshot, snapshot.length - CHECKSUM_BYTES, snapshot.length))
        .isEqualTo(checksum);
  }

  /** Corrects the checksum of a modified snapshot. */
  public static byte[] withChecksum(byte[] snapshot) {
    CRC32C checksum = new CRC32C();
    checksum.update(snapshot, 0, snapshot.length - CHECKSUM_BYTES);
    ByteBuffer.wrap(snapshot)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(snapshot.length - CHECKSUM_BYTES, (int) checksum.getValue());
    return snapshot;
  }

  /** Returns vectors of integers, which are the same on every machine. */
  public static float[] wholeNumbers(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = i * 37 % 23 - 11;
    }
    return x;
  }
}

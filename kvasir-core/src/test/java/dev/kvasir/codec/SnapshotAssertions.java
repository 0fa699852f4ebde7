package dev.kvasir.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/** Byte forms as tests look at them. */
public final class SnapshotAssertions {
  private static final int CHECKSUM_BYTES = 4;

  private SnapshotAssertions() {}

  /**
   * A form is a promise to files that exist: these bytes must never change. The checksum holds
   * those between the first and the last to the letter too.
   *
   * @param begin its first bytes in hexadecimal digits, with spaces wherever they help
   * @param checksum its last bytes
   */
  public static void assertBytes(byte[] form, int bytes, String checksum, String... begin) {
    String expected = String.join("", begin).replace(" ", "");
    HexFormat hex = HexFormat.of();
    assertThat(hex.formatHex(form, 0, expected.length() / 2)).isEqualTo(expected);
    assertThat(form).hasSize(bytes);
    assertThat(hex.formatHex(form, form.length - CHECKSUM_BYTES, form.length)).isEqualTo(checksum);
  }

  /** Makes the checksum right again, as if the form had been written so. */
  public static byte[] withChecksum(byte[] form) {
    CRC32C checksum = new CRC32C();
    checksum.update(form, 0, form.length - CHECKSUM_BYTES);
    ByteBuffer.wrap(form)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(form.length - CHECKSUM_BYTES, (int) checksum.getValue());
    return form;
  }

  /** Vectors of whole numbers, which come out the same on every machine. */
  public static float[] wholeNumbers(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = i * 37 % 23 - 11;
    }
    return x;
  }
}

package dev.kvasir.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SnapshotHeaderTest {
  private static final int KIND = 7;

  private static byte[] snapshot(SnapshotHeader header) {
    return header.wrap(KIND, 6, out -> out.putInt(0x12345678).putShort((short) 0x9ABC));
  }

  private static long unwrap(SnapshotHeader header, byte[] snapshot) {
    return header.unwrap(snapshot, KIND, in -> in.getInt() + ((long) in.getShort() << 32));
  }

  @Test
  void bytesAreAsDocumented() {
    SnapshotAssertions.assertBytes(
        snapshot(SnapshotHeader.PAGE), 20, "c49bfd76", "4b565047 02 07 06000000 78563412 bc9a");
    SnapshotAssertions.assertBytes(
        snapshot(SnapshotHeader.STATE), 20, "b24d078b", "4b565354 01 07 06000000 78563412 bc9a");
  }

  @ParameterizedTest
  @EnumSource
  void payloadRoundTrips(SnapshotHeader header) {
    assertThat(unwrap(header, snapshot(header)))
        .isEqualTo(0x12345678 + ((long) (short) 0x9ABC << 32));
  }

  @ParameterizedTest
  @EnumSource
  void everyChangedBitIsRejected(SnapshotHeader header) {
    for (int bit = 0; bit < 20 * Byte.SIZE; bit++) {
      byte[] damaged = snapshot(header);
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertThatThrownBy(() -> unwrap(header, damaged))
          .as("bit %d", bit)
          .isInstanceOf(InvalidInputException.class)
          .hasMessageMatching("(a|the rest of a) stored (page|state|block|cache|sequence) .*[^.]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherLengthIsRejected(SnapshotHeader header) {
    for (int length = 0; length < 30; length++) {
      byte[] cut = Arrays.copyOf(snapshot(header), length);
      if (length != 20) {
        assertThatThrownBy(() -> unwrap(header, cut)).isInstanceOf(InvalidInputException.class);
      }
    }
  }

  @Test
  void messagesNameFoundAndExpectedValues() {
    byte[] page = snapshot(SnapshotHeader.PAGE);
    assertThatThrownBy(() -> unwrap(SnapshotHeader.STATE, page))
        .hasMessage("a stored state does not begin with KVST");
    assertThatThrownBy(() -> SnapshotHeader.PAGE.unwrap(page, 3, ByteBuffer::getInt))
        .hasMessage("a stored page is of kind 7; this cache reads kind 3");
    byte[] old = page.clone();
    old[4] = 1;
    assertThatThrownBy(() -> unwrap(SnapshotHeader.PAGE, old))
        .hasMessage("a stored page has version 1; known is 2");
    assertThatThrownBy(() -> unwrap(SnapshotHeader.PAGE, Arrays.copyOf(page, 19)))
        .hasMessage("a stored page has 19 bytes; it says 20 of itself");
    byte[] flipped = page.clone();
    flipped[12] ^= 1;
    assertThatThrownBy(() -> unwrap(SnapshotHeader.PAGE, flipped))
        .hasMessageContaining("a stored page is damaged: its checksum is");
  }

  /** Only a faulty writer could produce it, and the message still explains the problem. */
  @Test
  void anInvalidPayloadIsAnInvalidSnapshot() {
    byte[] page = snapshot(SnapshotHeader.PAGE);
    assertThatThrownBy(() -> SnapshotHeader.PAGE.unwrap(page, KIND, ByteBuffer::getDouble))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("breaks off");
    assertThatThrownBy(
            () ->
                SnapshotHeader.PAGE.unwrap(
                    page,
                    KIND,
                    in -> {
                      throw new IllegalArgumentException("group is 3");
                    }))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("group is 3");
  }
}

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

  private static byte[] form(SnapshotHeader header) {
    return header.wrap(KIND, 6, out -> out.putInt(0x12345678).putShort((short) 0x9ABC));
  }

  private static long open(SnapshotHeader header, byte[] form) {
    return header.unwrap(form, KIND, in -> in.getInt() + ((long) in.getShort() << 32));
  }

  @Test
  void bytesLieAsTheyAreWrittenDown() {
    SnapshotAssertions.assertBytes(
        form(SnapshotHeader.PAGE), 20, "c49bfd76", "4b565047 02 07 06000000 78563412 bc9a");
    SnapshotAssertions.assertBytes(
        form(SnapshotHeader.STATE), 20, "b24d078b", "4b565354 01 07 06000000 78563412 bc9a");
  }

  @ParameterizedTest
  @EnumSource
  void whatWasSealedIsRead(SnapshotHeader header) {
    assertThat(open(header, form(header))).isEqualTo(0x12345678 + ((long) (short) 0x9ABC << 32));
  }

  @ParameterizedTest
  @EnumSource
  void everyBitCounts(SnapshotHeader header) {
    for (int bit = 0; bit < 20 * Byte.SIZE; bit++) {
      byte[] damaged = form(header);
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertThatThrownBy(() -> open(header, damaged))
          .as("bit %d", bit)
          .isInstanceOf(InvalidInputException.class)
          .hasMessageMatching("(a|the rest of a) stored (page|state|block|cache|sequence) .*[^.]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherLengthIsRefused(SnapshotHeader header) {
    for (int length = 0; length < 30; length++) {
      byte[] cut = Arrays.copyOf(form(header), length);
      if (length != 20) {
        assertThatThrownBy(() -> open(header, cut)).isInstanceOf(InvalidInputException.class);
      }
    }
  }

  @Test
  void refusalsSayWhatWasFoundAndWhatWasExpected() {
    byte[] page = form(SnapshotHeader.PAGE);
    assertThatThrownBy(() -> open(SnapshotHeader.STATE, page))
        .hasMessage("a stored state does not begin with KVST");
    assertThatThrownBy(() -> SnapshotHeader.PAGE.unwrap(page, 3, ByteBuffer::getInt))
        .hasMessage("a stored page is of kind 7; this cache reads kind 3");
    byte[] old = page.clone();
    old[4] = 1;
    assertThatThrownBy(() -> open(SnapshotHeader.PAGE, old))
        .hasMessage("a stored page has version 1; known is 2");
    assertThatThrownBy(() -> open(SnapshotHeader.PAGE, Arrays.copyOf(page, 19)))
        .hasMessage("a stored page has 19 bytes; it says 20 of itself");
    byte[] flipped = page.clone();
    flipped[12] ^= 1;
    assertThatThrownBy(() -> open(SnapshotHeader.PAGE, flipped))
        .hasMessageContaining("a stored page is damaged: its checksum is");
  }

  /** A writer of this kind would have had to be wrong; the user is told no less. */
  @Test
  void aPayloadThatCannotBeIsTheFormsFault() {
    byte[] page = form(SnapshotHeader.PAGE);
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

package dev.kvasir.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EnvelopeTest {
  private static final int KIND = 7;

  private static byte[] form(Envelope envelope) {
    return envelope.seal(KIND, 6, out -> out.putInt(0x12345678).putShort((short) 0x9ABC));
  }

  private static long open(Envelope envelope, byte[] form) {
    return envelope.open(form, KIND, in -> in.getInt() + ((long) in.getShort() << 32));
  }

  @Test
  void bytesLieAsTheyAreWrittenDown() {
    Forms.assertWrittenDown(
        form(Envelope.PAGE), 20, "c49bfd76", "4b565047 02 07 06000000 78563412 bc9a");
    Forms.assertWrittenDown(
        form(Envelope.STATE), 20, "b24d078b", "4b565354 01 07 06000000 78563412 bc9a");
  }

  @ParameterizedTest
  @EnumSource
  void whatWasSealedIsRead(Envelope envelope) {
    assertThat(open(envelope, form(envelope)))
        .isEqualTo(0x12345678 + ((long) (short) 0x9ABC << 32));
  }

  @ParameterizedTest
  @EnumSource
  void everyBitCounts(Envelope envelope) {
    for (int bit = 0; bit < 20 * Byte.SIZE; bit++) {
      byte[] damaged = form(envelope);
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertThatThrownBy(() -> open(envelope, damaged))
          .as("bit %d", bit)
          .isInstanceOf(InvalidInputException.class)
          .hasMessageMatching("(a|the rest of a) stored (page|state|block|cache|sequence) .*[^.]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherLengthIsRefused(Envelope envelope) {
    for (int length = 0; length < 30; length++) {
      byte[] cut = Arrays.copyOf(form(envelope), length);
      if (length != 20) {
        assertThatThrownBy(() -> open(envelope, cut)).isInstanceOf(InvalidInputException.class);
      }
    }
  }

  @Test
  void refusalsSayWhatWasFoundAndWhatWasExpected() {
    byte[] page = form(Envelope.PAGE);
    assertThatThrownBy(() -> open(Envelope.STATE, page))
        .hasMessage("a stored state does not begin with KVST");
    assertThatThrownBy(() -> Envelope.PAGE.open(page, 3, ByteBuffer::getInt))
        .hasMessage("a stored page is of kind 7; this cache reads kind 3");
    byte[] old = page.clone();
    old[4] = 1;
    assertThatThrownBy(() -> open(Envelope.PAGE, old))
        .hasMessage("a stored page has version 1; known is 2");
    assertThatThrownBy(() -> open(Envelope.PAGE, Arrays.copyOf(page, 19)))
        .hasMessage("a stored page has 19 bytes; it says 20 of itself");
    byte[] flipped = page.clone();
    flipped[12] ^= 1;
    assertThatThrownBy(() -> open(Envelope.PAGE, flipped))
        .hasMessageContaining("a stored page is damaged: its checksum is");
  }

  /** A writer of this kind would have had to be wrong; the user is told no less. */
  @Test
  void aPayloadThatCannotBeIsTheFormsFault() {
    byte[] page = form(Envelope.PAGE);
    assertThatThrownBy(() -> Envelope.PAGE.open(page, KIND, ByteBuffer::getDouble))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("breaks off");
    assertThatThrownBy(
            () ->
                Envelope.PAGE.open(
                    page,
                    KIND,
                    in -> {
                      throw new IllegalArgumentException("group is 3");
                    }))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("group is 3");
  }
}

package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32C;

/**
 * What every byte form has around it: bytes that outlive the process, which other machines read,
 * little-endian everywhere. A form of which any bit has changed is refused in one sentence.
 *
 * <pre>
 * 4 bytes  "KVPG" for a page, "KVST" for what a method keeps of a sequence,
 *          "KVBL" for a block of a cache, "KVRT" for the rest of it,
 *          "KVSB" for a block with its tokens, "KVSQ" for a sequence that names its blocks
 * u8       version
 * u8       kind, a number that stands in the class that writes it
 * u32      bytes of the payload
 *          payload
 * u32      CRC32C of all bytes before it
 * </pre>
 */
public enum Envelope {
  PAGE("KVPG", 2, "a stored page"),
  STATE("KVST", 1, "a stored state"),
  BLOCK("KVBL", 1, "a stored block"),
  REST("KVRT", 1, "the rest of a stored cache"),
  STORED_BLOCK("KVSB", 1, "a stored block with its tokens"),
  STORED_SEQUENCE("KVSQ", 1, "a stored sequence");

  private static final int MAGIC_BYTES = 4;
  private static final int HEADER_BYTES = MAGIC_BYTES + 2 + Integer.BYTES;
  private static final int CHECKSUM_BYTES = Integer.BYTES;

  private final byte[] magic;
  private final int version;
  private final String what;

  Envelope(String magic, int version, String what) {
    this.magic = magic.getBytes(StandardCharsets.US_ASCII);
    this.version = version;
    this.what = what;
  }

  /**
   * A form around a payload.
   *
   * @param payload puts so many bytes
   */
  public byte[] seal(int kind, long payloadBytes, Consumer<ByteBuffer> payload) {
    byte[] form = new byte[Math.toIntExact(HEADER_BYTES + payloadBytes + CHECKSUM_BYTES)];
    ByteBuffer out = ByteBuffer.wrap(form).order(ByteOrder.LITTLE_ENDIAN);
    out.put(magic).put((byte) version).put((byte) kind).putInt((int) payloadBytes);
    payload.accept(out);
    if (out.remaining() != CHECKSUM_BYTES) {
      throw new IllegalStateException(
          "%d bytes of a payload are missing".formatted(out.remaining() - CHECKSUM_BYTES));
    }
    out.putInt(checksum(ByteBuffer.wrap(form, 0, form.length - CHECKSUM_BYTES)));
    return form;
  }

  /**
   * What a form holds, which must be of this kind and whole. A payload that breaks off, or that
   * shapes refuse as a caller's mistake, is the form's fault.
   *
   * @param payload takes memory only after {@link #requireRest}
   */
  public <T> T open(Form form, int kind, Function<ByteBuffer, T> payload) {
    requireWhole(form);
    ByteBuffer in = form.bytes().position(MAGIC_BYTES + 1);
    int found = Byte.toUnsignedInt(in.get());
    if (found != kind) {
      throw refused("is of kind %d; this cache reads kind %d".formatted(found, kind));
    }
    in.position(HEADER_BYTES).limit(form.size() - CHECKSUM_BYTES);
    try {
      return payload.apply(in);
    } catch (BufferUnderflowException e) {
      throw refused("breaks off in the midst of what it says of itself");
    } catch (IllegalArgumentException
        | IndexOutOfBoundsException
        | ArithmeticException
        | NegativeArraySizeException e) {
      throw refused("says what cannot be: %s".formatted(e.getMessage()));
    }
  }

  public <T> T open(byte[] form, int kind, Function<ByteBuffer, T> payload) {
    return open(Form.of(form), kind, payload);
  }

  /** The kind that a form says it is of, which is believed once it was opened as that. */
  public int kindOf(Form form) {
    requireHeader(form);
    return Byte.toUnsignedInt(form.bytes().get(MAGIC_BYTES + 1));
  }

  /** Refuses a form of which any bit has changed; one that lies within another is believed. */
  public void requireWhole(Form form) {
    requireHeader(form);
    if (!form.isChecked()) {
      requireChecksum(form.bytes());
    }
  }

  private void requireHeader(Form form) {
    if (form.size() < HEADER_BYTES + CHECKSUM_BYTES) {
      throw refused(
          "has %d bytes; expected at least %d"
              .formatted(form.size(), HEADER_BYTES + CHECKSUM_BYTES));
    }
    ByteBuffer in = form.bytes();
    if (!in.slice(0, MAGIC_BYTES).equals(ByteBuffer.wrap(magic))) {
      throw refused("does not begin with " + new String(magic, StandardCharsets.US_ASCII));
    }
    int foundVersion = Byte.toUnsignedInt(in.get(MAGIC_BYTES));
    if (foundVersion != version) {
      throw refused("has version %d; known is %d".formatted(foundVersion, version));
    }
    long payloadBytes = Integer.toUnsignedLong(in.getInt(HEADER_BYTES - Integer.BYTES));
    if (form.size() != HEADER_BYTES + payloadBytes + CHECKSUM_BYTES) {
      throw refused(
          "has %d bytes; it says %d of itself"
              .formatted(form.size(), HEADER_BYTES + payloadBytes + CHECKSUM_BYTES));
    }
  }

  private void requireChecksum(ByteBuffer form) {
    int end = form.limit() - CHECKSUM_BYTES;
    int expected = form.getInt(end);
    int checksum = checksum(form.limit(end));
    if (checksum != expected) {
      throw refused("is damaged: its checksum is %08x, not %08x".formatted(checksum, expected));
    }
  }

  /** Refuses a payload of which more is left, or less, than its end takes. */
  public void requireRest(ByteBuffer in, long wanted) {
    if (in.remaining() != wanted) {
      throw refused(
          "ends with %d bytes; by what it says of itself it has %d"
              .formatted(in.remaining(), wanted));
    }
  }

  /** The next four bytes, a token's position. */
  public int position(ByteBuffer in) {
    int position = in.getInt();
    if (position < 0) {
      throw refused("has position %d; expected 0 or more".formatted(position));
    }
    return position;
  }

  /** The sentence about a form: {@code a stored page ...}. */
  public InvalidInputException refused(String why) {
    return new InvalidInputException(what + " " + why);
  }

  /** Of all that is left. */
  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }
}

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
public enum SnapshotHeader {
  PAGE("KVPG", 2, "a stored page"),
  STATE("KVST", 1, "a stored state"),
  BLOCK("KVBL", 1, "a stored block"),
  RESIDUAL("KVRT", 1, "the rest of a stored cache"),
  STORED_BLOCK("KVSB", 1, "a stored block with its tokens"),
  STORED_SEQUENCE("KVSQ", 1, "a stored sequence");

  private static final int MAGIC_BYTES = 4;
  private static final int HEADER_BYTES = MAGIC_BYTES + 2 + Integer.BYTES;
  private static final int CHECKSUM_BYTES = Integer.BYTES;

  private final byte[] magic;
  private final int version;
  private final String what;

  SnapshotHeader(String magic, int version, String what) {
    this.magic = magic.getBytes(StandardCharsets.US_ASCII);
    this.version = version;
    this.what = what;
  }

  /**
   * A form around a payload.
   *
   * @param payload puts so many bytes
   */
  public byte[] wrap(int kind, long payloadBytes, Consumer<ByteBuffer> payload) {
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
   * @param payload takes memory only after {@link #requireRemaining}
   */
  public <T> T unwrap(Snapshot snapshot, int kind, Function<ByteBuffer, T> payload) {
    requireIntact(snapshot);
    ByteBuffer in = snapshot.bytes().position(MAGIC_BYTES + 1);
    int found = Byte.toUnsignedInt(in.get());
    if (found != kind) {
      throw invalid("is of kind %d; this cache reads kind %d".formatted(found, kind));
    }
    in.position(HEADER_BYTES).limit(snapshot.size() - CHECKSUM_BYTES);
    try {
      return payload.apply(in);
    } catch (BufferUnderflowException e) {
      throw invalid("breaks off in the midst of what it says of itself");
    } catch (IllegalArgumentException
        | IndexOutOfBoundsException
        | ArithmeticException
        | NegativeArraySizeException e) {
      throw invalid("says what cannot be: %s".formatted(e.getMessage()));
    }
  }

  public <T> T unwrap(byte[] form, int kind, Function<ByteBuffer, T> payload) {
    return unwrap(Snapshot.of(form), kind, payload);
  }

  /** The kind that a form says it is of, which is believed once it was opened as that. */
  public int kindOf(Snapshot snapshot) {
    requireHeader(snapshot);
    return Byte.toUnsignedInt(snapshot.bytes().get(MAGIC_BYTES + 1));
  }

  /** Refuses a form of which any bit has changed; one that lies within another is believed. */
  public void requireIntact(Snapshot snapshot) {
    requireHeader(snapshot);
    if (!snapshot.isChecked()) {
      requireChecksum(snapshot.bytes());
    }
  }

  private void requireHeader(Snapshot snapshot) {
    if (snapshot.size() < HEADER_BYTES + CHECKSUM_BYTES) {
      throw invalid(
          "has %d bytes; expected at least %d"
              .formatted(snapshot.size(), HEADER_BYTES + CHECKSUM_BYTES));
    }
    ByteBuffer in = snapshot.bytes();
    if (!in.slice(0, MAGIC_BYTES).equals(ByteBuffer.wrap(magic))) {
      throw invalid("does not begin with " + new String(magic, StandardCharsets.US_ASCII));
    }
    int foundVersion = Byte.toUnsignedInt(in.get(MAGIC_BYTES));
    if (foundVersion != version) {
      throw invalid("has version %d; known is %d".formatted(foundVersion, version));
    }
    long payloadBytes = Integer.toUnsignedLong(in.getInt(HEADER_BYTES - Integer.BYTES));
    if (snapshot.size() != HEADER_BYTES + payloadBytes + CHECKSUM_BYTES) {
      throw invalid(
          "has %d bytes; it says %d of itself"
              .formatted(snapshot.size(), HEADER_BYTES + payloadBytes + CHECKSUM_BYTES));
    }
  }

  private void requireChecksum(ByteBuffer form) {
    int end = form.limit() - CHECKSUM_BYTES;
    int expected = form.getInt(end);
    int checksum = checksum(form.limit(end));
    if (checksum != expected) {
      throw invalid("is damaged: its checksum is %08x, not %08x".formatted(checksum, expected));
    }
  }

  /** Refuses a payload of which more is left, or less, than its end takes. */
  public void requireRemaining(ByteBuffer in, long wanted) {
    if (in.remaining() != wanted) {
      throw invalid(
          "ends with %d bytes; by what it says of itself it has %d"
              .formatted(in.remaining(), wanted));
    }
  }

  /** The next four bytes, a token's position. */
  public int readPosition(ByteBuffer in) {
    int position = in.getInt();
    if (position < 0) {
      throw invalid("has position %d; expected 0 or more".formatted(position));
    }
    return position;
  }

  /** The sentence about a form: {@code a stored page ...}. */
  public InvalidInputException invalid(String why) {
    return new InvalidInputException(what + " " + why);
  }

  /** Of all that is left. */
  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }
}

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
 * The header and checksum around serialized data. The bytes are persistent, portable between
 * machines and little-endian. A snapshot with any changed bit is rejected.
 *
 * <pre>
 * 4 bytes  "KVPG" for a page, "KVST" for the state of a sequence codec,
 *          "KVBL" for a block of a cache, "KVRT" for its residual window,
 *          "KVRS" for a residual window with recurrent states,
 *          "KVSB" for a block with its tokens, "KVSQ" for a sequence that names its blocks
 * u8       version
 * u8       kind, a constant of the class that writes it
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
  STATES("KVRS", 1, "the rest of a stored cache with states"),
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
   * Returns a snapshot with the given payload.
   *
   * @param payload writes {@code payloadBytes} bytes
   */
  public byte[] wrap(int kind, long payloadBytes, Consumer<ByteBuffer> payload) {
    byte[] bytes = new byte[Math.toIntExact(HEADER_BYTES + payloadBytes + CHECKSUM_BYTES)];
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    out.put(magic).put((byte) version).put((byte) kind).putInt((int) payloadBytes);
    payload.accept(out);
    if (out.remaining() != CHECKSUM_BYTES) {
      throw new IllegalStateException(
          "%d bytes of a payload are missing".formatted(out.remaining() - CHECKSUM_BYTES));
    }
    out.putInt(checksum(ByteBuffer.wrap(bytes, 0, bytes.length - CHECKSUM_BYTES)));
    return bytes;
  }

  /**
   * Reads the payload of an intact snapshot of the given kind. A truncated payload, or one with
   * invalid dimensions, is reported as an invalid snapshot.
   *
   * @param payload allocates memory only after {@link #requireRemaining}
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

  public <T> T unwrap(byte[] bytes, int kind, Function<ByteBuffer, T> payload) {
    return unwrap(Snapshot.of(bytes), kind, payload);
  }

  /** Returns the kind of a snapshot, unverified until it is unwrapped. */
  public int kindOf(Snapshot snapshot) {
    requireHeader(snapshot);
    return Byte.toUnsignedInt(snapshot.bytes().get(MAGIC_BYTES + 1));
  }

  /** Rejects a snapshot with changed bits. A nested snapshot is trusted. */
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

  private void requireChecksum(ByteBuffer bytes) {
    int end = bytes.limit() - CHECKSUM_BYTES;
    int expected = bytes.getInt(end);
    int checksum = checksum(bytes.limit(end));
    if (checksum != expected) {
      throw invalid("is damaged: its checksum is %08x, not %08x".formatted(checksum, expected));
    }
  }

  /** Rejects a payload whose remaining size differs from the expected one. */
  public void requireRemaining(ByteBuffer in, long wanted) {
    if (in.remaining() != wanted) {
      throw invalid(
          "ends with %d bytes; by what it says of itself it has %d"
              .formatted(in.remaining(), wanted));
    }
  }

  /** Reads a token position of four bytes. */
  public int readPosition(ByteBuffer in) {
    int position = in.getInt();
    if (position < 0) {
      throw invalid("has position %d; expected 0 or more".formatted(position));
    }
    return position;
  }

  /** Returns the exception for a snapshot, with a message like {@code a stored page ...}. */
  public InvalidInputException invalid(String why) {
    return new InvalidInputException(what + " " + why);
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }
}

package dev.kvasir.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Serialized bytes that are read in place. A snapshot nested in another was verified with it and is
 * not verified again.
 */
public final class Snapshot {
  private final ByteBuffer bytes;
  private final boolean isChecked;

  private Snapshot(ByteBuffer bytes, boolean isChecked) {
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    this.isChecked = isChecked;
  }

  /** Returns a snapshot whose checksum is verified when it is unwrapped. */
  public static Snapshot of(byte[] bytes) {
    return new Snapshot(ByteBuffer.wrap(bytes), false);
  }

  /**
   * Returns a snapshot of a buffer from its position to its limit, verified when it is unwrapped.
   */
  public static Snapshot of(ByteBuffer bytes) {
    return new Snapshot(bytes, false);
  }

  /**
   * Returns a snapshot in a mapped file. The caller verifies the checksum before any result depends
   * on the contents.
   */
  public static Snapshot withDeferredCheck(ByteBuffer bytes) {
    return new Snapshot(bytes, true);
  }

  /** Returns the next {@code size} bytes of the payload of an enclosing, verified snapshot. */
  public static Snapshot nested(ByteBuffer payload, int size) {
    Snapshot snapshot = new Snapshot(payload.slice(payload.position(), size), true);
    payload.position(payload.position() + size);
    return snapshot;
  }

  /** Returns the remaining payload of an enclosing, verified snapshot. */
  public static Snapshot nested(ByteBuffer payload) {
    return nested(payload, payload.remaining());
  }

  /** Returns whether an enclosing checksum was verified, or will be before anything is computed. */
  boolean isChecked() {
    return isChecked;
  }

  public int size() {
    return bytes.capacity();
  }

  /** Returns all bytes, little-endian, as a new buffer that the caller may move. */
  public ByteBuffer bytes() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns a copy of the bytes. */
  public byte[] toArray() {
    byte[] copy = new byte[size()];
    bytes.get(0, copy);
    return copy;
  }
}

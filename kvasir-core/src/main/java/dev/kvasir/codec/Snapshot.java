package dev.kvasir.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a form, to be read where they lie. What lies within another form was checked with
 * it, and is not checked again.
 */
public final class Snapshot {
  private final ByteBuffer bytes;
  private final boolean isChecked;

  private Snapshot(ByteBuffer bytes, boolean isChecked) {
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    this.isChecked = isChecked;
  }

  /** Whose checksum is compared when it is opened. */
  public static Snapshot of(byte[] bytes) {
    return new Snapshot(ByteBuffer.wrap(bytes), false);
  }

  /** The same of bytes that may lie anywhere, from their position to their limit. */
  public static Snapshot of(ByteBuffer bytes) {
    return new Snapshot(bytes, false);
  }

  /** Of a mapped file, whose checksum is compared before anything is made of what it holds. */
  public static Snapshot withDeferredCheck(ByteBuffer bytes) {
    return new Snapshot(bytes, true);
  }

  /** The next so many bytes of the payload of a form around it, which was checked. */
  public static Snapshot nested(ByteBuffer payload, int size) {
    Snapshot snapshot = new Snapshot(payload.slice(payload.position(), size), true);
    payload.position(payload.position() + size);
    return snapshot;
  }

  /** All that is left of the payload of a form around it, which was checked. */
  public static Snapshot nested(ByteBuffer payload) {
    return nested(payload, payload.remaining());
  }

  /** Whether a checksum around it was right, or will be compared before anything is computed. */
  boolean isChecked() {
    return isChecked;
  }

  public int size() {
    return bytes.capacity();
  }

  /** From the first byte to the last, little-endian; whoever asks may move it. */
  public ByteBuffer bytes() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A copy. */
  public byte[] toArray() {
    byte[] copy = new byte[size()];
    bytes.get(0, copy);
    return copy;
  }
}

package dev.kvasir.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a form, to be read where they lie. What lies within another form was checked with
 * it, and is not checked again.
 */
public final class Form {
  private final ByteBuffer bytes;
  private final boolean isChecked;

  private Form(ByteBuffer bytes, boolean isChecked) {
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    this.isChecked = isChecked;
  }

  /** Whose checksum is compared when it is opened. */
  public static Form of(byte[] bytes) {
    return new Form(ByteBuffer.wrap(bytes), false);
  }

  /** The same of bytes that may lie anywhere, from their position to their limit. */
  public static Form of(ByteBuffer bytes) {
    return new Form(bytes, false);
  }

  /** Of a mapped file, whose checksum is somebody else's business, later. */
  public static Form uncheckedOf(ByteBuffer bytes) {
    return new Form(bytes, true);
  }

  /** The next so many bytes of the payload of a form around it, which was checked. */
  public static Form within(ByteBuffer payload, int size) {
    Form form = new Form(payload.slice(payload.position(), size), true);
    payload.position(payload.position() + size);
    return form;
  }

  /** All that is left of the payload of a form around it, which was checked. */
  public static Form within(ByteBuffer payload) {
    return within(payload, payload.remaining());
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

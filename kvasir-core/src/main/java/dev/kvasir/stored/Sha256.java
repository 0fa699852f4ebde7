package dev.kvasir.stored;

import dev.kvasir.format.ContentHash;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** An incremental digest of length-prefixed parts, whose boundaries are therefore unambiguous. */
final class Sha256 {
  static final int BYTES = 32;

  /** Bytes per update, since buffers are limited to two gigabytes. */
  private static final long MAX_AT_ONCE = 1 << 24;

  private final MessageDigest digest = ContentHash.newDigest();

  Sha256 add(byte[] bytes) {
    return addLength(bytes.length).addBare(ByteBuffer.wrap(bytes));
  }

  Sha256 add(String text) {
    return add(text.getBytes(StandardCharsets.UTF_8));
  }

  Sha256 add(long number) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return addBare(bytes.putLong(number).flip());
  }

  Sha256 add(int[] numbers, int from, int to) {
    ByteBuffer bytes =
        ByteBuffer.allocate(Integer.BYTES * (to - from)).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(numbers, from, to - from);
    return addLength(bytes.capacity()).addBare(bytes);
  }

  Sha256 add(MemorySegment bytes) {
    addLength(bytes.byteSize());
    for (long at = 0; at < bytes.byteSize(); at += MAX_AT_ONCE) {
      long count = Math.min(MAX_AT_ONCE, bytes.byteSize() - at);
      addBare(bytes.asSlice(at, count).asByteBuffer());
    }
    return this;
  }

  private Sha256 addLength(long bytes) {
    return add(bytes);
  }

  private Sha256 addBare(ByteBuffer bytes) {
    digest.update(bytes);
    return this;
  }

  byte[] finish() {
    return digest.digest();
  }
}

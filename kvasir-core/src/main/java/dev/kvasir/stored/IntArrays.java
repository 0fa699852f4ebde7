package dev.kvasir.stored;

import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;

/** Serializes int arrays, prefixed by their length. */
final class IntArrays {
  private IntArrays() {}

  static void write(int[] numbers, ByteBuffer out) {
    out.putInt(numbers.length);
    for (int number : numbers) {
      out.putInt(number);
    }
  }

  /** Reads an array; rejects a length beyond the remaining bytes. */
  static int[] read(SnapshotHeader header, ByteBuffer in) {
    int count = count(header, in, Integer.BYTES);
    int[] numbers = new int[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = in.getInt();
    }
    return numbers;
  }

  /** Reads a count of items of {@code bytesEach} bytes; rejects more than remain. */
  static int count(SnapshotHeader header, ByteBuffer in, int bytesEach) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / bytesEach) {
      throw header.invalid(
          "has %d items of %d bytes in %d".formatted(count, bytesEach, in.remaining()));
    }
    return count;
  }
}

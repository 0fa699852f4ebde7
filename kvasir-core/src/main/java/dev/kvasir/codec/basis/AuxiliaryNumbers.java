package dev.kvasir.codec.basis;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** 16-bit numbers that a page stores in addition to its codes: a channel order, or scales. */
public final class AuxiliaryNumbers implements AutoCloseable {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SharedArena memory;
  private final MemorySegment numbers;

  /**
   * Copies the numbers.
   *
   * @param memory the memory of the numbers, retained until closed
   */
  public AuxiliaryNumbers(SharedArena memory, short[] numbers) {
    this(memory, memory.allocate((long) Short.BYTES * numbers.length));
    for (int i = 0; i < numbers.length; i++) {
      this.numbers.set(SHORT, (long) Short.BYTES * i, numbers[i]);
    }
  }

  private AuxiliaryNumbers(SharedArena memory, MemorySegment numbers) {
    this.numbers = numbers;
    this.memory = memory.retain();
  }

  /** Reads the next {@code count} numbers of a payload. */
  public static AuxiliaryNumbers read(SharedArena memory, ByteBuffer in, int count) {
    ByteBuffer numbers = Snapshot.nested(in, Short.BYTES * count).bytes();
    return new AuxiliaryNumbers(memory, memory.adopt(MemorySegment.ofBuffer(numbers)));
  }

  public void write(ByteBuffer out) {
    out.put(numbers.asByteBuffer());
  }

  /** Returns a number as an unsigned integer. */
  public int index(int place) {
    return Short.toUnsignedInt(numbers.get(SHORT, (long) Short.BYTES * place));
  }

  /** Returns a number as a half-precision float. */
  public float half(int place) {
    return Float.float16ToFloat(numbers.get(SHORT, (long) Short.BYTES * place));
  }

  public long bytes() {
    return numbers.byteSize();
  }

  @Override
  public void close() {
    memory.release();
  }
}

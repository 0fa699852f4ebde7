package dev.kvasir.codec.basis;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Numbers of 16 bits that a page keeps beside its codes: an order of channels, or scales. */
public final class AuxiliaryNumbers implements AutoCloseable {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SharedArena memory;
  private final MemorySegment numbers;

  /**
   * @param memory that they lie in, and hold until they are closed
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

  /** The next so many of a payload. */
  public static AuxiliaryNumbers read(SharedArena memory, ByteBuffer in, int count) {
    ByteBuffer numbers = Snapshot.nested(in, Short.BYTES * count).bytes();
    return new AuxiliaryNumbers(memory, memory.adopt(MemorySegment.ofBuffer(numbers)));
  }

  public void write(ByteBuffer out) {
    out.put(numbers.asByteBuffer());
  }

  /** One of them as a whole number. */
  public int index(int place) {
    return Short.toUnsignedInt(numbers.get(SHORT, (long) Short.BYTES * place));
  }

  /** One of them as a half. */
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

package dev.kvasir.codec;

import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.ValueLayout;

/**
 * A ring buffer of integers: rows with one number for each position of a contiguous range. The slot
 * of a position is the position modulo the capacity, so nothing moves as the range advances.
 *
 * <pre>
 * (rows, capacity)  i32
 * bytes = 4 * rows * capacity
 * </pre>
 *
 * <p>If the range outgrows the base capacity, the capacity doubles. It shrinks back once the range
 * is short enough.
 */
final class TokenRingBuffer {
  private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT;

  private final int rows;
  private final int baseCapacity;
  private final MemoryPool pool;
  private CopyOnWriteMemory memory;
  private int capacity;
  private int begin;
  private int end;

  TokenRingBuffer(int rows, int capacity, MemoryPool pool) {
    this(rows, capacity, pool, new CopyOnWriteMemory(bytesFor(rows, capacity), pool), capacity);
  }

  private TokenRingBuffer(
      int rows, int baseCapacity, MemoryPool pool, CopyOnWriteMemory memory, int capacity) {
    this.rows = rows;
    this.baseCapacity = baseCapacity;
    this.pool = pool;
    this.memory = memory;
    this.capacity = capacity;
  }

  static long bytesFor(int rows, int capacity) {
    return (long) Integer.BYTES * rows * capacity;
  }

  long bytes() {
    return bytesFor(rows, capacity);
  }

  TokenRingBuffer fork() {
    TokenRingBuffer fork = new TokenRingBuffer(rows, baseCapacity, pool, memory.retain(), capacity);
    fork.begin = begin;
    fork.end = end;
    return fork;
  }

  void close() {
    memory.release();
  }

  /** Returns the first position of the range. */
  int begin() {
    return begin;
  }

  /** Returns the position after the range. */
  int end() {
    return end;
  }

  /** Returns a number; 0 for a position outside the range. */
  int get(int row, int position) {
    return position < begin || position >= end ? 0 : numberAt(row, position);
  }

  private int numberAt(int row, int position) {
    return memory.bytes().getAtIndex(NUMBER, slot(row, position));
  }

  /**
   * Sets a number.
   *
   * @param position within the range, after {@link #extendTo}
   */
  void set(int row, int position, int number) {
    memory.bytes().setAtIndex(NUMBER, slot(row, position), number);
  }

  private long slot(int row, int position) {
    return (long) row * capacity + position % capacity;
  }

  /**
   * Extends the range to include some positions, and makes the memory writable. New numbers are 0.
   */
  void extendTo(int from, int to) {
    if (begin == end) {
      begin = from;
      end = from;
    }
    int first = Math.min(begin, from);
    int last = Math.max(end, to);
    if (last - first > capacity) {
      resize(Math.max(2 * capacity, last - first));
    }
    memory = memory.writable();
    clear(first, begin);
    clear(end, last);
    begin = first;
    end = last;
  }

  private void clear(int from, int to) {
    for (int row = 0; from < to && row < rows; row++) {
      for (int position = from; position < to; position++) {
        set(row, position, 0);
      }
    }
  }

  private void resize(int wanted) {
    CopyOnWriteMemory moved = new CopyOnWriteMemory(bytesFor(rows, wanted), pool);
    for (int row = 0; row < rows; row++) {
      for (int position = begin; position < end; position++) {
        long to = (long) row * wanted + position % wanted;
        moved.bytes().setAtIndex(NUMBER, to, numberAt(row, position));
      }
    }
    memory.release();
    memory = moved;
    capacity = wanted;
  }

  void dropBefore(int position) {
    begin = Math.max(begin, position);
    end = Math.max(end, begin);
    if (capacity > baseCapacity && end - begin <= baseCapacity) {
      try {
        resize(baseCapacity);
      } catch (MemoryFullException e) {
        // The larger buffer remains in use until more tokens are dropped.
      }
    }
  }

  void truncate(int length) {
    end = Math.min(end, length);
    begin = Math.min(begin, end);
  }
}

package dev.kvasir.codec;

import dev.kvasir.memory.ForkedMemory;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.ValueLayout;

/**
 * Rows of integers, each with one for every token of a run of positions. A token has the place that
 * its position leaves when it is divided by the number of places, so nothing moves as the run does.
 *
 * <pre>
 * (rows, places)  i32
 * bytes = 4 * rows * places
 * </pre>
 *
 * There are as many places as were asked for, and more only while the run is longer: their number
 * doubles then, and is what it was once the run is short enough.
 */
final class TokenNumbers {
  private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT;

  private final int rows;
  private final int usualPlaces;
  private final MemoryPool pool;
  private ForkedMemory memory;
  private int places;
  private int begin;
  private int end;

  TokenNumbers(int rows, int places, MemoryPool pool) {
    this(rows, places, pool, new ForkedMemory(bytesFor(rows, places), pool), places);
  }

  private TokenNumbers(
      int rows, int usualPlaces, MemoryPool pool, ForkedMemory memory, int places) {
    this.rows = rows;
    this.usualPlaces = usualPlaces;
    this.pool = pool;
    this.memory = memory;
    this.places = places;
  }

  static long bytesFor(int rows, int places) {
    return (long) Integer.BYTES * rows * places;
  }

  long bytes() {
    return bytesFor(rows, places);
  }

  TokenNumbers fork() {
    TokenNumbers fork = new TokenNumbers(rows, usualPlaces, pool, memory.retain(), places);
    fork.begin = begin;
    fork.end = end;
    return fork;
  }

  void close() {
    memory.release();
  }

  /** The first position of the run. */
  int begin() {
    return begin;
  }

  /** The position after the run. */
  int end() {
    return end;
  }

  /** 0 for a position that is not in the run. */
  int of(int row, int position) {
    return position < begin || position >= end ? 0 : numberAt(row, position);
  }

  private int numberAt(int row, int position) {
    return memory.bytes().getAtIndex(NUMBER, place(row, position));
  }

  /**
   * @param position of the run, after {@link #hold}
   */
  void set(int row, int position, int number) {
    memory.bytes().setAtIndex(NUMBER, place(row, position), number);
  }

  private long place(int row, int position) {
    return (long) row * places + position % places;
  }

  /** Makes some positions part of the run, and the memory its own; new numbers are 0. */
  void hold(int from, int to) {
    if (begin == end) {
      begin = from;
      end = from;
    }
    int first = Math.min(begin, from);
    int last = Math.max(end, to);
    if (last - first > places) {
      moveTo(Math.max(2 * places, last - first));
    }
    memory = memory.toWrite();
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

  private void moveTo(int wanted) {
    ForkedMemory moved = new ForkedMemory(bytesFor(rows, wanted), pool);
    for (int row = 0; row < rows; row++) {
      for (int position = begin; position < end; position++) {
        long to = (long) row * wanted + position % wanted;
        moved.bytes().setAtIndex(NUMBER, to, numberAt(row, position));
      }
    }
    memory.release();
    memory = moved;
    places = wanted;
  }

  void forgetBefore(int position) {
    begin = Math.max(begin, position);
    end = Math.max(end, begin);
    if (places > usualPlaces && end - begin <= usualPlaces) {
      try {
        moveTo(usualPlaces);
      } catch (MemoryFullException e) {
        // What there is serves as well, until the next tokens are forgotten.
      }
    }
  }

  void truncate(int length) {
    end = Math.min(end, length);
    begin = Math.min(begin, end);
  }
}

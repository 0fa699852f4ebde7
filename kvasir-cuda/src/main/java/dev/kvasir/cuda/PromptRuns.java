package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Which rows of a step are parts of prompts, on the device:
 *
 * <pre>
 * run  u32 first row; u32 rows; u32 position of the first; u32 first entry of the table;
 *      u32 packed pages, which those of halves follow; u32 sinks, which the first of those have;
 *      u32 first entry of its tables; u32 -
 * </pre>
 */
final class PromptRuns implements AutoCloseable {
  private static final int RUN_BYTES = 32;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment runs;
  private final DeviceMemory memory;
  private int count;
  private int mostRows;

  PromptRuns(Context context, int most) {
    this.runs = arena.allocate((long) RUN_BYTES * most, 16);
    this.memory = context.allocate(runs.byteSize());
  }

  void clear() {
    count = 0;
    mostRows = 0;
  }

  void add(
      int firstRow,
      int rows,
      int position,
      int firstEntry,
      int packedPages,
      int sinks,
      int firstTable) {
    long at = (long) RUN_BYTES * count++;
    runs.set(JAVA_INT, at, firstRow);
    runs.set(JAVA_INT, at + 4, rows);
    runs.set(JAVA_INT, at + 8, position);
    runs.set(JAVA_INT, at + 12, firstEntry);
    runs.set(JAVA_INT, at + 16, packedPages);
    runs.set(JAVA_INT, at + 20, sinks);
    runs.set(JAVA_INT, at + 24, firstTable);
    mostRows = Math.max(mostRows, rows);
  }

  int count() {
    return count;
  }

  /** Of the longest. */
  int mostRows() {
    return mostRows;
  }

  void upload(Stream stream) {
    if (count > 0) {
      memory.upload(stream, 0, runs, (long) RUN_BYTES * count);
    }
  }

  long address() {
    return memory.address();
  }

  @Override
  public void close() {
    Closing.all(memory, Closing.once(arena));
  }
}

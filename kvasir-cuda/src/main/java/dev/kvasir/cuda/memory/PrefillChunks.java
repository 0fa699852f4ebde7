package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The rows of a step that are chunks of prompts, on the device:
 *
 * <pre>
 * chunk  u32 first row; u32 rows; u32 position of the first; u32 first entry of the table;
 *        u32 packed pages, which fp16 pages follow; u32 sinks, in the first of those fp16 pages;
 *        u32 first entry of its tables; u32 -
 * </pre>
 *
 * Groups of layers with pages of their own have further lists of the same chunks.
 */
public final class PrefillChunks implements AutoCloseable {
  private static final int CHUNK_BYTES = 32;

  private final int maxChunks;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment chunks; // (groups, maxChunks)
  private final DeviceMemory memory;
  private int count;
  private int groups = 1;
  private int maxRows;

  public PrefillChunks(CudaContext context, int maxChunks) {
    this.maxChunks = maxChunks;
    this.chunks = arena.allocate((long) CHUNK_BYTES * PageTable.MAX_GROUPS * maxChunks, 16);
    this.memory = context.allocate(chunks.byteSize());
  }

  public void clear() {
    count = 0;
    groups = 1;
    maxRows = 0;
  }

  public void add(
      int firstRow,
      int rows,
      int position,
      int firstEntry,
      int packedPages,
      int sinks,
      int firstTable) {
    long at = (long) CHUNK_BYTES * count++;
    chunks.set(JAVA_INT, at, firstRow);
    chunks.set(JAVA_INT, at + 4, rows);
    chunks.set(JAVA_INT, at + 8, position);
    chunks.set(JAVA_INT, at + 12, firstEntry);
    chunks.set(JAVA_INT, at + 16, packedPages);
    chunks.set(JAVA_INT, at + 20, sinks);
    chunks.set(JAVA_INT, at + 24, firstTable);
    maxRows = Math.max(maxRows, rows);
  }

  /** Adds the last chunk as another group of layers sees it. */
  public void addGroup(int group, int firstEntry, int packedPages) {
    long last = (long) CHUNK_BYTES * (count - 1);
    long at = groupOffset(group) + last;
    MemorySegment.copy(chunks, last, chunks, at, CHUNK_BYTES);
    chunks.set(JAVA_INT, at + 12, firstEntry);
    chunks.set(JAVA_INT, at + 16, packedPages);
    groups = Math.max(groups, group + 1);
  }

  private long groupOffset(int group) {
    return (long) CHUNK_BYTES * maxChunks * group;
  }

  public int count() {
    return count;
  }

  /** Returns the number of rows of the longest chunk. */
  public int maxRows() {
    return maxRows;
  }

  public void upload(CudaStream stream) {
    for (int group = 0; count > 0 && group < groups; group++) {
      long at = groupOffset(group);
      long bytes = (long) CHUNK_BYTES * count;
      memory.upload(stream, at, chunks.asSlice(at, bytes), bytes);
    }
  }

  public long address() {
    return address(0);
  }

  /** Returns the device address of the chunks as a group of layers sees them. */
  public long address(int group) {
    return memory.address() + groupOffset(group);
  }

  @Override
  public void close() {
    Resources.closeAll(memory, Resources.closeOnce(arena));
  }
}

package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * Device memory for the keys, or values, of a block of 128 tokens while their codes are searched.
 * As an argument, with the offsets in search.cuh:
 *
 * <pre>
 *  0 u64 search tables   24 u64 fits    40 u32 vectors of a token   48 u32 stages
 *  8 u64 vectors         32 u64 codes   44 u32 channels of each
 * 16 u64 lengths
 * </pre>
 */
final class VectorMemory implements AutoCloseable {
  /** Size of the argument. */
  static final int BYTES = 56;

  private static final int BLOCK_TOKENS = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  private final int count;
  private final int length;
  private final int stages;
  private final DeviceMemory vectors;
  private final DeviceMemory lengths;
  private final DeviceMemory fits;
  private final DeviceMemory codes;

  /**
   * @param count vectors of a token in one layer
   * @param length channels of a vector
   * @param layers layers of a block
   */
  VectorMemory(CudaContext context, int count, int length, int stages, int layers) {
    this.count = count;
    this.length = length;
    this.stages = stages;
    long tokens = (long) layers * BLOCK_TOKENS;
    this.vectors = context.allocate(tokens * count * length * Float.BYTES);
    this.lengths = context.allocate(tokens * Float.BYTES);
    this.fits = context.allocate(tokens * count * 2 * Double.BYTES);
    this.codes = context.allocate(tokens * count * stages * Short.BYTES);
  }

  int count() {
    return count;
  }

  int length() {
    return length;
  }

  int stages() {
    return stages;
  }

  /**
   * @param searchTables device address
   */
  void put(MemorySegment argument, int at, long searchTables) {
    argument.set(JAVA_LONG, at, searchTables);
    argument.set(JAVA_LONG, at + 8, vectors.address());
    argument.set(JAVA_LONG, at + 16, lengths.address());
    argument.set(JAVA_LONG, at + 24, fits.address());
    argument.set(JAVA_LONG, at + 32, codes.address());
    argument.set(JAVA_INT, at + 40, count);
    argument.set(JAVA_INT, at + 44, length);
    argument.set(JAVA_INT, at + 48, stages);
  }

  @Override
  public void close() {
    Resources.closeAll(vectors, lengths, fits, codes);
  }
}

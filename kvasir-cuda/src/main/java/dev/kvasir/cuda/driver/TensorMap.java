package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A description of a matrix of halves in device memory, from which the copy engine takes boxes of
 * 64 columns. A box lies in shared memory in rows of 128 bytes with the 128-byte swizzle that
 * matrix instructions of warpgroups read. Requires compute capability 9.0.
 */
public final class TensorMap {
  /** Size as a kernel argument. */
  public static final int BYTES = 128;

  private static final int ALIGNMENT = 64;
  private static final int FLOAT16 = 6;
  private static final int SWIZZLE_128 = 3;
  private static final int PROMOTE_TO_L2_256 = 3;
  private static final int BOX_COLUMNS = 64;

  /** Looked up on first use: drivers for other cards may lack it. */
  private static final class Encoder {
    static final MethodHandle ENCODE =
        Driver.function(
            "cuTensorMapEncodeTiled",
            ADDRESS,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT);
  }

  private final MemorySegment map = Arena.ofAuto().allocate(BYTES, ALIGNMENT);

  /**
   * @param address of a row-major matrix, a multiple of 16
   * @param columns a multiple of 64
   * @param boxRows rows of a box, at most 256
   */
  public TensorMap(long address, long rows, long columns, int boxRows) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sizes = arena.allocateFrom(JAVA_LONG, columns, rows);
      MemorySegment strides = arena.allocateFrom(JAVA_LONG, columns * Short.BYTES);
      MemorySegment box = arena.allocateFrom(JAVA_INT, BOX_COLUMNS, boxRows);
      MemorySegment steps = arena.allocateFrom(JAVA_INT, 1, 1);
      Driver.check(
          (int)
              Encoder.ENCODE.invokeExact(
                  map,
                  FLOAT16,
                  2,
                  address,
                  sizes,
                  strides,
                  box,
                  steps,
                  0,
                  SWIZZLE_128,
                  PROMOTE_TO_L2_256,
                  0),
          "cuTensorMapEncodeTiled of %,d rows by %,d columns".formatted(rows, columns));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Writes the map as a kernel argument. */
  public void set(MemorySegment arguments, long at) {
    MemorySegment.copy(map, 0, arguments, at, BYTES);
  }
}

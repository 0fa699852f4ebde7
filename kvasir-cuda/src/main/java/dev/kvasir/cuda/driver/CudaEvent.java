package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A CUDA event: a point in a stream with a device timestamp. */
public final class CudaEvent implements AutoCloseable {
  private static final MethodHandle CREATE = Driver.function("cuEventCreate", ADDRESS, JAVA_INT);
  private static final MethodHandle DESTROY = Driver.function("cuEventDestroy_v2", JAVA_LONG);
  private static final MethodHandle RECORD = Driver.function("cuEventRecord", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle RECORD_WITH_FLAGS =
      Driver.function("cuEventRecordWithFlags", JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle AWAIT = Driver.function("cuEventSynchronize", JAVA_LONG);
  private static final MethodHandle ELAPSED =
      Driver.function("cuEventElapsedTime", ADDRESS, JAVA_LONG, JAVA_LONG);

  /** The event is a node of the graph, not only a dependency of later nodes. */
  private static final int EXTERNAL = 1;

  private final long handle;
  private boolean closed;

  private CudaEvent(long handle) {
    this.handle = handle;
  }

  /** Creates an event in the context that this thread has entered. */
  public static CudaEvent open() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check((int) CREATE.invokeExact(at, 0), "cuEventCreate");
      return new CudaEvent(at.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  long handle() {
    return handle;
  }

  /** Records the event after all work submitted to the stream so far. */
  public void record(CudaStream stream) {
    try {
      Driver.check((int) RECORD.invokeExact(handle, stream.handle()), "cuEventRecord");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /**
   * Records the event as a node of the graph being captured; every launch of the graph records it
   * again.
   */
  public void recordInGraph(CudaStream stream) {
    try {
      Driver.check(
          (int) RECORD_WITH_FLAGS.invokeExact(handle, stream.handle(), EXTERNAL),
          "cuEventRecordWithFlags");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  public void await() {
    try {
      Driver.check((int) AWAIT.invokeExact(handle), "cuEventSynchronize");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Returns the microseconds from an earlier event to this one. Both must have completed. */
  public double microsSince(CudaEvent earlier) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment millis = arena.allocate(JAVA_FLOAT);
      Driver.check((int) ELAPSED.invokeExact(millis, earlier.handle, handle), "cuEventElapsedTime");
      return 1e3 * millis.get(JAVA_FLOAT, 0);
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      Driver.check((int) DESTROY.invokeExact(handle), "cuEventDestroy");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}

package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A CUDA stream: a queue of work that the device runs in order. */
public final class CudaStream implements AutoCloseable {
  private static final int NON_BLOCKING = 1;

  /** Other threads may allocate while this thread captures. */
  private static final int THREAD_LOCAL = 1;

  private static final MethodHandle CREATE = Driver.function("cuStreamCreate", ADDRESS, JAVA_INT);
  private static final MethodHandle DESTROY = Driver.function("cuStreamDestroy_v2", JAVA_LONG);
  private static final MethodHandle SYNCHRONIZE = Driver.function("cuStreamSynchronize", JAVA_LONG);
  private static final MethodHandle WAIT =
      Driver.function("cuStreamWaitEvent", JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle BEGIN_CAPTURE =
      Driver.function("cuStreamBeginCapture_v2", JAVA_LONG, JAVA_INT);
  private static final MethodHandle END_CAPTURE =
      Driver.function("cuStreamEndCapture", JAVA_LONG, ADDRESS);

  private final long handle;
  private boolean closed;

  private CudaStream(long handle) {
    this.handle = handle;
  }

  /** Creates a stream in the context that this thread has entered. */
  public static CudaStream open() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check((int) CREATE.invokeExact(at, NON_BLOCKING), "cuStreamCreate");
      return new CudaStream(at.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  long handle() {
    return handle;
  }

  /** Waits for all submitted work and throws if any of it failed. */
  public void synchronize() {
    try {
      Driver.check((int) SYNCHRONIZE.invokeExact(handle), "cuStreamSynchronize");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Lets later work wait for an event, which may be of another device. */
  public void await(CudaEvent event) {
    try {
      Driver.check((int) WAIT.invokeExact(handle, event.handle(), 0), "cuStreamWaitEvent");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Captures the work submitted to this stream instead of running it. */
  public CudaGraph capture(Runnable work) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check((int) BEGIN_CAPTURE.invokeExact(handle, THREAD_LOCAL), "cuStreamBeginCapture");
      RuntimeException failure = null;
      try {
        work.run();
      } catch (RuntimeException e) {
        failure = e;
      }
      int ended = (int) END_CAPTURE.invokeExact(handle, at);
      if (failure != null) {
        if (ended == 0) {
          CudaGraph.discard(at.get(JAVA_LONG, 0));
        }
        throw failure;
      }
      Driver.check(ended, "cuStreamEndCapture");
      return CudaGraph.instantiate(at.get(JAVA_LONG, 0));
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
      Driver.check((int) DESTROY.invokeExact(handle), "cuStreamDestroy");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}

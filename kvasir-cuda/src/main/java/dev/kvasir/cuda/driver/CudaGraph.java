package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A CUDA graph: a captured sequence of launches that one call repeats. */
public final class CudaGraph implements AutoCloseable {
  private static final MethodHandle INSTANTIATE =
      Driver.function("cuGraphInstantiateWithFlags", ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DISCARD = Driver.function("cuGraphDestroy", JAVA_LONG);
  private static final MethodHandle LAUNCH = Driver.function("cuGraphLaunch", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DESTROY = Driver.function("cuGraphExecDestroy", JAVA_LONG);

  private final long handle;
  private boolean closed;

  private CudaGraph(long handle) {
    this.handle = handle;
  }

  /** Instantiates a captured graph and destroys the captured handle. */
  static CudaGraph instantiate(long recorded) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      int result = (int) INSTANTIATE.invokeExact(at, recorded, 0L);
      discard(recorded);
      Driver.check(result, "cuGraphInstantiateWithFlags");
      return new CudaGraph(at.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  static void discard(long recorded) {
    try {
      Driver.check((int) DISCARD.invokeExact(recorded), "cuGraphDestroy");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  public void launch(CudaStream stream) {
    try {
      Driver.check((int) LAUNCH.invokeExact(handle, stream.handle()), "cuGraphLaunch");
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
      Driver.check((int) DESTROY.invokeExact(handle), "cuGraphExecDestroy");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}

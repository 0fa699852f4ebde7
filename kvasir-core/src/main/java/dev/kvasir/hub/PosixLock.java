package dev.kvasir.hub;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A lock by {@code flock(2)}. It belongs to an open file, and the system releases it when the
 * process ends.
 */
final class PosixLock implements AutoCloseable {
  // From fcntl.h and sys/file.h; the same on Linux and macOS.
  private static final int OPEN_READ_WRITE = 2;
  private static final int LOCK_EXCLUSIVE_NOT_WAITING = 2 | 4;

  /** The number of the error "held by another" is 11 on Linux and 35 on macOS. */
  private static final Set<Integer> HELD_BY_ANOTHER = Set.of(11, 35);

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERROR =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final Optional<Functions> FUNCTIONS = functions();

  /** {@code int open(const char *, int)}, {@code int flock(int, int)}, {@code int close(int)}. */
  private record Functions(MethodHandle open, MethodHandle flock, MethodHandle close) {}

  private final int descriptor;

  private PosixLock(int descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Returns whether this system has the function and this program may call it: without the option
   * {@code --enable-native-access} Java would print a warning.
   */
  static boolean isAvailable() {
    return FUNCTIONS.isPresent();
  }

  @SuppressWarnings("restricted") // the signatures are those of POSIX
  private static Optional<Functions> functions() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    boolean isPosix = system.startsWith("linux") || system.startsWith("mac");
    if (!isPosix || !PosixLock.class.getModule().isNativeAccessEnabled()) {
      return Optional.empty();
    }
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor open =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    FunctionDescriptor flock =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    FunctionDescriptor close = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    return Optional.of(
        new Functions(
            // Its further argument, the mode of a new file, makes it variadic.
            linker.downcallHandle(
                linker.defaultLookup().findOrThrow("open"),
                open,
                Linker.Option.firstVariadicArg(2)),
            linker.downcallHandle(
                linker.defaultLookup().findOrThrow("flock"),
                flock,
                Linker.Option.captureCallState("errno")),
            linker.downcallHandle(linker.defaultLookup().findOrThrow("close"), close)));
  }

  /**
   * Returns the lock; empty if another open file has it. Where the file system has no such locks,
   * the result excludes nobody.
   */
  static Optional<PosixLock> tryAcquire(Path file) throws IOException {
    if (!Files.exists(file)) {
      try {
        Files.createFile(file);
      } catch (FileAlreadyExistsException e) {
        // Another process was faster.
      }
    }
    Functions functions = FUNCTIONS.orElseThrow();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(file.toString());
      int descriptor = (int) functions.open.invokeExact(path, OPEN_READ_WRITE);
      if (descriptor < 0) {
        throw new IOException(file + ": cannot be opened");
      }
      PosixLock lock = new PosixLock(descriptor);
      MemorySegment state = arena.allocate(STATE);
      int result = (int) functions.flock.invokeExact(state, descriptor, LOCK_EXCLUSIVE_NOT_WAITING);
      if (result == 0 || !HELD_BY_ANOTHER.contains((int) ERROR.get(state, 0L))) {
        return Optional.of(lock);
      }
      lock.close();
      return Optional.empty();
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      int result = (int) FUNCTIONS.orElseThrow().close.invokeExact(descriptor);
      assert result == 0 : "close";
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}

package dev.kvasir.natives;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Records calls of native functions for {@code tools/native/check}. The contract tests check the
 * results on this machine against the Java kernels, so other machines can replay a recording
 * instead.
 */
final class CallRecorder {
  private static final MethodHandle RECORD = handleOfRecord();

  private final Map<String, CallSample> samples = new TreeMap<>();

  private static MethodHandle handleOfRecord() {
    try {
      MethodType type =
          MethodType.methodType(Object.class, String.class, MethodHandle.class, Object[].class);
      return MethodHandles.lookup().findVirtual(CallRecorder.class, "record", type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Records all calls of functions in static fields of this package's classes, from now on. */
  void install() throws IOException, ReflectiveOperationException {
    for (Class<?> type : classes()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getType() == NativeFunction.class && Modifier.isStatic(field.getModifiers())) {
          field.setAccessible(true);
          if (field.get(null) instanceof NativeFunction function) {
            recordFrom(function);
          }
        }
      }
    }
  }

  private static List<Class<?>> classes() throws IOException, ReflectiveOperationException {
    List<Class<?>> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folderOf(NativeFunction.class))) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class")) {
          String type = name.substring(0, name.length() - ".class".length());
          found.add(Class.forName(NativeFunction.class.getPackageName() + "." + type));
        }
      }
    }
    return found;
  }

  private static Path folderOf(Class<?> type) {
    try {
      return Path.of(type.getResource(type.getSimpleName() + ".class").toURI()).getParent();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private void recordFrom(NativeFunction function) {
    MethodType type = function.handle.type();
    function.handle =
        MethodHandles.insertArguments(RECORD, 0, this, function.symbol, function.handle)
            .asCollector(Object[].class, type.parameterCount())
            .asType(type);
  }

  @SuppressWarnings("unused") // called through its handle
  private synchronized Object record(String symbol, MethodHandle function, Object[] arguments)
      throws Throwable {
    CallSample sample = samples.computeIfAbsent(symbol, any -> new CallSample());
    CallSample.Rank rank = sample.rank(integers(arguments));
    if (!sample.takes(rank, bytes(arguments))) {
      return function.invokeWithArguments(arguments);
    }
    RecordedCall call = RecordedCall.before(symbol, arguments);
    Object result = function.invokeWithArguments(arguments);
    sample.add(rank, call.after(result));
    return result;
  }

  private static List<Integer> integers(Object... arguments) {
    return Stream.of(arguments).filter(Integer.class::isInstance).map(Integer.class::cast).toList();
  }

  private static long bytes(Object... arguments) {
    return Stream.of(arguments)
        .flatMap(argument -> RecordedCall.segment(argument).stream())
        .mapToLong(MemorySegment::byteSize)
        .sum();
  }

  synchronized void write(OutputStream out) throws IOException {
    out.write(RecordedCall.HEADER);
    for (CallSample sample : samples.values()) {
      for (byte[] call : sample.calls()) {
        out.write(call);
      }
    }
  }
}

package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A call of a native function: its arguments, and the contents of their memory before and after.
 *
 * <p>In a file, numbers are little-endian, and everything is aligned to 8 bytes:
 *
 * <pre>
 * call:     i32 bytes of the call, i32 length of the name, i32 arguments,
 *           i32 whether it returns a float, i32 bits of that float, i32 zero, name, arguments
 * argument: i32 kind, i32 kind of element, i64 value
 *           kinds: 0 int, 1 float (value: its bits), 2 memory (value: bytes),
 *                  3 the memory of an earlier argument (value: which), 4 null, 5 long
 *           kinds of elements: 0 bytes, 1 floats
 * memory:   bytes before, i64 whether the call changed them, if so bytes afterwards
 * </pre>
 */
final class RecordedCall {
  static final byte[] HEADER = "KVCALLS1".getBytes(StandardCharsets.US_ASCII);

  private static final int INT = 0;
  private static final int FLOAT = 1;
  private static final int MEMORY = 2;
  private static final int SAME_MEMORY = 3;
  private static final int NULL = 4;
  private static final int LONG = 5;

  private final String name;
  private final Object[] arguments;
  private final byte[][] before; // null if an argument is not memory

  private RecordedCall(String name, Object[] arguments, byte[][] before) {
    this.name = name;
    this.arguments = arguments;
    this.before = before;
  }

  static RecordedCall before(String symbol, Object... arguments) {
    byte[][] before = new byte[arguments.length][];
    for (int i = 0; i < arguments.length; i++) {
      before[i] = segment(arguments[i]).map(memory -> memory.toArray(JAVA_BYTE)).orElse(null);
    }
    return new RecordedCall(nameOf(symbol), arguments, before);
  }

  /** Returns a symbol without its prefix and its instruction set. */
  private static String nameOf(String symbol) {
    return Stream.concat(
            Arrays.stream(InstructionSet.values()).map(InstructionSet::suffix), Stream.of("amx"))
        .filter(set -> symbol.startsWith("kv_") && symbol.endsWith("_" + set))
        .map(set -> symbol.substring("kv_".length(), symbol.length() - set.length() - 1))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(symbol + " names no instructions"));
  }

  /** Returns the memory that an argument passes to a function; empty for a number or null. */
  static Optional<MemorySegment> segment(Object argument) {
    return Optional.ofNullable(
        switch (argument) {
          case byte[] array -> MemorySegment.ofArray(array);
          case short[] array -> MemorySegment.ofArray(array);
          case int[] array -> MemorySegment.ofArray(array);
          case float[] array -> MemorySegment.ofArray(array);
          case MemorySegment memory -> memory.equals(MemorySegment.NULL) ? null : memory;
          default -> null;
        });
  }

  /**
   * Returns the call in the file format, once it has been made.
   *
   * @param result the float that the function returned, or null
   */
  byte[] after(Object result) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int i = 0; i < arguments.length; i++) {
      writeArgument(i, body);
    }
    byte[] letters = name.getBytes(StandardCharsets.US_ASCII);
    int headBytes = 24 + roundedUp(letters.length);
    ByteBuffer call = numbers(headBytes + body.size());
    call.putInt(call.capacity()).putInt(letters.length).putInt(arguments.length);
    call.putInt(result == null ? 0 : 1);
    call.putInt(result == null ? 0 : Float.floatToRawIntBits((float) result));
    call.putInt(0).put(letters);
    call.put(headBytes, body.toByteArray());
    return call.array();
  }

  private void writeArgument(int index, ByteArrayOutputStream to) throws IOException {
    switch (arguments[index]) {
      case Integer number -> write(to, INT, 0, number);
      case Long number -> write(to, LONG, 0, number);
      case Float number -> write(to, FLOAT, 0, Float.floatToRawIntBits(number));
      case Object memory -> writeMemory(index, to);
    }
  }

  private void writeMemory(int index, ByteArrayOutputStream to) throws IOException {
    Optional<MemorySegment> memory = segment(arguments[index]);
    if (memory.isEmpty()) {
      write(to, NULL, 0, 0);
      return;
    }
    int same = firstWith(memory.get(), index);
    if (same < index) {
      write(to, SAME_MEMORY, 0, same);
      return;
    }
    boolean floats = memory.get().heapBase().filter(float[].class::isInstance).isPresent();
    write(to, MEMORY, floats ? 1 : 0, before[index].length);
    writePadded(to, before[index]);
    byte[] after = memory.get().toArray(JAVA_BYTE);
    boolean changed = !Arrays.equals(before[index], after);
    to.write(numbers(8).putLong(changed ? 1 : 0).array());
    if (changed) {
      writePadded(to, after);
    }
  }

  /** Returns the first argument with this memory. Partial overlaps are not supported. */
  private int firstWith(MemorySegment memory, int index) {
    List<Optional<MemorySegment>> earlier =
        Arrays.stream(arguments).limit(index).map(RecordedCall::segment).toList();
    for (int i = 0; i < index; i++) {
      Optional<MemorySegment> shared = earlier.get(i).flatMap(memory::asOverlappingSlice);
      if (shared.isPresent()) {
        if (memory.byteSize() != shared.get().byteSize()
            || memory.byteSize() != earlier.get(i).get().byteSize()) {
          throw new IllegalStateException(
              "arguments %d and %d of %s overlap".formatted(i, index, name));
        }
        return i;
      }
    }
    return index;
  }

  private static void write(ByteArrayOutputStream to, int kind, int element, long value)
      throws IOException {
    to.write(numbers(16).putInt(kind).putInt(element).putLong(value).array());
  }

  private static void writePadded(ByteArrayOutputStream to, byte[] bytes) throws IOException {
    to.write(bytes);
    to.write(new byte[roundedUp(bytes.length) - bytes.length]);
  }

  private static ByteBuffer numbers(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int roundedUp(int bytes) {
    return (bytes + 7) / 8 * 8;
  }
}

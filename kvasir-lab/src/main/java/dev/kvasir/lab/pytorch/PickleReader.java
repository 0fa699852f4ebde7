package dev.kvasir.lab.pytorch;

import dev.kvasir.lab.pytorch.TorchStorage.NumberType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of Python's pickle machine, protocol 2, that files of tensors need. A pickle is a
 * program that may call any function; this reader knows three names and rejects all others.
 */
final class PickleReader {
  /** A name that a pickle may refer to. */
  private sealed interface Name {
    /** Builds a tensor. */
    record Rebuild() implements Name {}

    /** Builds a dictionary; saved with each tensor, always empty. */
    record Dictionary() implements Name {}

    record Storage(NumberType type) implements Name {}
  }

  private static final Map<String, Name> NAMES =
      Map.of(
          "torch._utils _rebuild_tensor_v2", new Name.Rebuild(),
          "collections OrderedDict", new Name.Dictionary(),
          "torch FloatStorage", new Name.Storage(NumberType.FLOAT),
          "torch DoubleStorage", new Name.Storage(NumberType.DOUBLE),
          "torch HalfStorage", new Name.Storage(NumberType.HALF),
          "torch BFloat16Storage", new Name.Storage(NumberType.BFLOAT16));

  /** Where a list of arguments begins on the stack. */
  private static final Object MARK = new Object();

  private static final Object NONE = new Object();

  private final ByteBuffer in;
  private final Deque<Object> stack = new ArrayDeque<>();
  private final Map<Integer, Object> memo = new HashMap<>();

  private PickleReader(byte[] pickle) {
    this.in = ByteBuffer.wrap(pickle).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Returns the object: a map, list, text, number or {@link TorchTensor}.
   *
   * @throws IllegalArgumentException if the pickle contains anything else or is damaged
   */
  static Object read(byte[] pickle) {
    try {
      return new PickleReader(pickle).run();
    } catch (java.nio.BufferUnderflowException
        | java.util.NoSuchElementException
        | ClassCastException
        | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException("a damaged pickle", e);
    }
  }

  private Object run() {
    while (true) {
      int code = in.get() & 0xFF;
      if (code == '.') {
        return pop();
      }
      step(code);
    }
  }

  private void step(int code) {
    switch (code) {
      case 0x80 -> in.get(); // protocol
      case '(' -> stack.push(MARK);
      case 'N' -> stack.push(NONE);
      case '}' -> stack.push(new LinkedHashMap<>());
      case ']' -> stack.push(new ArrayList<>());
      case ')' -> stack.push(List.of());
      case 0x88 -> stack.push(true);
      case 0x89 -> stack.push(false);
      case 'K' -> stack.push((long) (in.get() & 0xFF));
      case 'M' -> stack.push((long) (in.getShort() & 0xFFFF));
      case 'J' -> stack.push((long) in.getInt());
      case 0x8A -> stack.push(longNumber());
      case 'G' -> stack.push(Double.longBitsToDouble(Long.reverseBytes(in.getLong())));
      case 'X' -> stack.push(text(in.getInt()));
      case 'q' -> memo.put(in.get() & 0xFF, stack.element());
      case 'r' -> memo.put(in.getInt(), stack.element());
      case 'h' -> stack.push(remembered(in.get() & 0xFF));
      case 'j' -> stack.push(remembered(in.getInt()));
      case 'c' -> stack.push(name());
      case 't' -> stack.push(sinceMark());
      case 0x85 -> stack.push(top(1));
      case 0x86 -> stack.push(top(2));
      case 0x87 -> stack.push(top(3));
      case 'Q' -> stack.push(storage((List<?>) pop()));
      case 'R' -> call();
      case 's' -> put(top(2));
      case 'u' -> put(sinceMark());
      case 'a' -> append(top(1));
      case 'e' -> append(sinceMark());
      default -> throw new IllegalArgumentException("pickle instruction %d".formatted(code));
    }
  }

  private Object pop() {
    return stack.pop();
  }

  private Object remembered(int key) {
    Object found = memo.get(key);
    if (found == null) {
      throw new IllegalArgumentException("pickle memo %d is empty".formatted(key));
    }
    return found;
  }

  private String text(int length) {
    byte[] bytes = new byte[checked(length)];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private int checked(int length) {
    if (length < 0 || length > in.remaining()) {
      throw new IllegalArgumentException("a pickle text of %d bytes".formatted(length));
    }
    return length;
  }

  private long longNumber() {
    int length = in.get() & 0xFF;
    if (length > Long.BYTES) {
      throw new IllegalArgumentException("a pickle number of %d bytes".formatted(length));
    }
    long number = 0;
    int shift = 0;
    for (int i = 0; i < length; i++) {
      number |= (in.get() & 0xFFL) << shift;
      shift += Byte.SIZE;
    }
    return shift == 0 || shift == Long.SIZE
        ? number
        : number << Long.SIZE - shift >> Long.SIZE - shift;
  }

  private Name name() {
    String found = line() + " " + line();
    Name known = NAMES.get(found);
    if (known == null) {
      throw new IllegalArgumentException("the name '%s'".formatted(found.replace(' ', '.')));
    }
    return known;
  }

  private String line() {
    StringBuilder line = new StringBuilder();
    for (char next = (char) in.get(); next != '\n'; next = (char) in.get()) {
      line.append(next);
    }
    return line.toString();
  }

  private List<Object> sinceMark() {
    List<Object> found = new ArrayList<>();
    for (Object next = pop(); next != MARK; next = pop()) {
      found.add(next);
    }
    Collections.reverse(found);
    return found;
  }

  private List<Object> top(int count) {
    List<Object> found = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      found.add(pop());
    }
    Collections.reverse(found);
    return found;
  }

  /** A persistent id: {@code ('storage', type, key, device, count)}. */
  private static TorchStorage storage(List<?> id) {
    if (!"storage".equals(id.get(0)) || !(id.get(1) instanceof Name.Storage type)) {
      throw new IllegalArgumentException("the reference " + id);
    }
    return new TorchStorage((String) id.get(2), type.type());
  }

  private void call() {
    List<?> arguments = (List<?>) pop();
    switch ((Name) pop()) {
      case Name.Dictionary ignored -> stack.push(new LinkedHashMap<>());
      case Name.Rebuild ignored ->
          stack.push(
              new TorchTensor(
                  (TorchStorage) arguments.get(0),
                  (Long) arguments.get(1),
                  longs((List<?>) arguments.get(2)),
                  longs((List<?>) arguments.get(3))));
      case Name.Storage type -> throw new IllegalArgumentException("a call of " + type);
    }
  }

  private static List<Long> longs(List<?> numbers) {
    return numbers.stream().map(Long.class::cast).toList();
  }

  @SuppressWarnings("unchecked") // maps and lists on the stack are this class's own
  private void put(List<Object> pairs) {
    Map<Object, Object> map = (Map<Object, Object>) stack.element();
    for (int i = 0; i < pairs.size(); i += 2) {
      map.put(pairs.get(i), pairs.get(i + 1));
    }
  }

  @SuppressWarnings("unchecked") // maps and lists on the stack are this class's own
  private void append(List<Object> more) {
    ((List<Object>) stack.element()).addAll(more);
  }
}

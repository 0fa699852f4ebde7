package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;

/** Which functions of the library serve this process, decided once. */
final class Calls {
  /** How many of the best sets of instructions are left out, so that tests reach the others. */
  static final String PROPERTY = "kvasir.native.leave-out";

  /** Leaves AMX unused where it is there. */
  static final String WITHOUT_TILES = "kvasir.native.without-tiles";

  /** What makes a segment of an array. */
  private static final Map<Class<?>, MethodHandle> SEGMENT_OF =
      Map.of(
          byte[].class, segmentOf(byte[].class),
          short[].class, segmentOf(short[].class),
          int[].class, segmentOf(int[].class),
          float[].class, segmentOf(float[].class));

  private Calls() {}

  /** What there is, or why there is none. */
  private record Found(
      NativeLibrary library, Set<Instructions> instructions, boolean tiles, NativeRefusal why) {
    static final Found ONCE = find();

    private static Found find() {
      try {
        Platform platform = Platform.ofThisProcess();
        NativeLibrary library = NativeLibrary.load(platform);
        Set<Instructions> instructions = Processor.instructions(platform, library);
        for (int i = Integer.getInteger(PROPERTY, 0); i > 0 && instructions.size() > 1; i--) {
          instructions.remove(Collections.max(instructions));
        }
        boolean tiles =
            instructions.contains(Instructions.AVX512)
                && !Boolean.getBoolean(WITHOUT_TILES)
                && Processor.offersTiles(platform, library);
        return new Found(library, instructions, tiles, null);
      } catch (NativeRefusal refusal) {
        return new Found(null, Set.of(), false, refusal);
      }
    }
  }

  /** Why native kernels cannot serve; null if they can. */
  static NativeRefusal refusal() {
    return Found.ONCE.why();
  }

  /** The best there is for products of codes. */
  static Instructions forCodes() {
    return Found.ONCE.instructions().stream().max(Comparator.naturalOrder()).orElseThrow();
  }

  /** Whether AMX multiplies codes of many rows, beside {@link #forCodes}. */
  static boolean hasTiles() {
    return Found.ONCE.tiles();
  }

  /** The best there is for floats. */
  static Instructions forFloats() {
    return Found.ONCE.instructions().stream()
        .filter(each -> each != Instructions.DOTPROD && each != Instructions.AVXVNNI)
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * A function that multiplies codes.
   *
   * @param arguments as Java passes them: int, long, float, arrays and segments
   */
  static Call code(String name, Class<?>... arguments) {
    return function(name, forCodes(), void.class, arguments);
  }

  /** A function on floats. */
  static Call floats(String name, Class<?>... arguments) {
    return function(name, forFloats(), void.class, arguments);
  }

  /** A function on floats that answers one. */
  static Call floatOf(String name, Class<?>... arguments) {
    return function(name, forFloats(), float.class, arguments);
  }

  /** A function that needs AMX; null where there is none. */
  static Call tiles(String name, Class<?>... arguments) {
    return hasTiles() ? link("kv_%s_amx".formatted(name), void.class, arguments) : null;
  }

  private static Call function(
      String name, Instructions set, Class<?> result, Class<?>... arguments) {
    return link("kv_%s_%s".formatted(name, set.suffix()), result, arguments);
  }

  private static Call link(String symbol, Class<?> result, Class<?>... arguments) {
    requireArraysFirst(symbol, arguments);
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    MethodHandle[] filters = new MethodHandle[arguments.length]; // null where nothing is to be made
    for (int i = 0; i < arguments.length; i++) {
      layouts[i] = layout(arguments[i]);
      filters[i] = SEGMENT_OF.get(arguments[i]);
    }
    FunctionDescriptor type =
        result == void.class
            ? FunctionDescriptor.ofVoid(layouts)
            : FunctionDescriptor.of(layout(result), layouts);
    MethodHandle function = Found.ONCE.library().function(symbol, type);
    return new Call(symbol, MethodHandles.filterArguments(function, 0, filters));
  }

  /**
   * Java holds on to its arguments one after another, and lets go of them in a handler when one is
   * refused. Once segments of several classes have come, in memory and in mapped files, compilers
   * keep the way to that handler. An array behind such a segment is held on one way to it and not
   * on the other, and what stands for it becomes an object of 24 bytes in every call.
   */
  private static void requireArraysFirst(String symbol, Class<?>... arguments) {
    boolean afterSegment = false;
    for (Class<?> argument : arguments) {
      if (afterSegment && argument.isArray()) {
        throw new IllegalArgumentException("%s takes an array after a segment".formatted(symbol));
      }
      afterSegment |= argument == MemorySegment.class;
    }
  }

  private static MemoryLayout layout(Class<?> type) {
    if (type == int.class) {
      return JAVA_INT;
    }
    if (type == long.class) {
      return JAVA_LONG;
    }
    return type == float.class ? JAVA_FLOAT : ADDRESS;
  }

  private static MethodHandle segmentOf(Class<?> array) {
    try {
      MethodType type = MethodType.methodType(MemorySegment.class, array);
      return MethodHandles.publicLookup().findStatic(MemorySegment.class, "ofArray", type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A call of a function throws nothing; what comes is a mistake in how it was called. */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }
}

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
final class NativeFunctions {
  /** How many of the best sets of instructions are left out, so that tests reach the others. */
  static final String PROPERTY = "kvasir.native.leave-out";

  /** Leaves AMX unused where it is there. */
  static final String WITHOUT_AMX = "kvasir.native.without-tiles";

  /** What makes a segment of an array. */
  private static final Map<Class<?>, MethodHandle> SEGMENT_OF =
      Map.of(
          byte[].class, segmentOf(byte[].class),
          short[].class, segmentOf(short[].class),
          int[].class, segmentOf(int[].class),
          float[].class, segmentOf(float[].class));

  private NativeFunctions() {}

  /** What there is, or why there is none. */
  private record DetectedCpu(
      NativeLibrary library,
      Set<InstructionSet> instructions,
      boolean amx,
      NativeUnavailableException why) {
    static final DetectedCpu INSTANCE = detect();

    private static DetectedCpu detect() {
      try {
        Platform platform = Platform.ofThisProcess();
        NativeLibrary library = NativeLibrary.load(platform);
        Set<InstructionSet> instructions = CpuFeatures.instructions(platform, library);
        for (int i = Integer.getInteger(PROPERTY, 0); i > 0 && instructions.size() > 1; i--) {
          instructions.remove(Collections.max(instructions));
        }
        boolean amx =
            instructions.contains(InstructionSet.AVX512)
                && !Boolean.getBoolean(WITHOUT_AMX)
                && CpuFeatures.hasAmx(platform, library);
        return new DetectedCpu(library, instructions, amx, null);
      } catch (NativeUnavailableException refusal) {
        return new DetectedCpu(null, Set.of(), false, refusal);
      }
    }
  }

  /** Why native kernels cannot serve; null if they can. */
  static NativeUnavailableException unavailable() {
    return DetectedCpu.INSTANCE.why();
  }

  /** The best there is for products of codes. */
  static InstructionSet integerInstructions() {
    return DetectedCpu.INSTANCE.instructions().stream()
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Whether AMX multiplies codes of many rows, beside {@link #integerInstructions}. */
  static boolean hasAmx() {
    return DetectedCpu.INSTANCE.amx();
  }

  /** The best there is for floats. */
  static InstructionSet floatInstructions() {
    return DetectedCpu.INSTANCE.instructions().stream()
        .filter(each -> each != InstructionSet.DOTPROD && each != InstructionSet.AVXVNNI)
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * A function that multiplies codes.
   *
   * @param arguments as Java passes them: int, long, float, arrays and segments
   */
  static NativeFunction integerFunction(String name, Class<?>... arguments) {
    return function(name, integerInstructions(), void.class, arguments);
  }

  /** A function on floats. */
  static NativeFunction floatFunction(String name, Class<?>... arguments) {
    return function(name, floatInstructions(), void.class, arguments);
  }

  /** A function on floats that answers one. */
  static NativeFunction floatReduction(String name, Class<?>... arguments) {
    return function(name, floatInstructions(), float.class, arguments);
  }

  /** A function that needs AMX; null where there is none. */
  static NativeFunction amxFunction(String name, Class<?>... arguments) {
    return hasAmx() ? link("kv_%s_amx".formatted(name), void.class, arguments) : null;
  }

  private static NativeFunction function(
      String name, InstructionSet set, Class<?> result, Class<?>... arguments) {
    return link("kv_%s_%s".formatted(name, set.suffix()), result, arguments);
  }

  private static NativeFunction link(String symbol, Class<?> result, Class<?>... arguments) {
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
    MethodHandle function = DetectedCpu.INSTANCE.library().function(symbol, type);
    return new NativeFunction(symbol, MethodHandles.filterArguments(function, 0, filters));
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

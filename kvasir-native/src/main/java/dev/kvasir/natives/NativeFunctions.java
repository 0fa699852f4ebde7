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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The functions of the library that this process uses, selected once. */
final class NativeFunctions {
  /** The number of best instruction sets to skip, so that tests reach the others. */
  static final String PROPERTY = "kvasir.native.leave-out";

  /** Disables AMX even if it is available. */
  static final String WITHOUT_AMX = "kvasir.native.without-tiles";

  /** The method that wraps each array type in a segment. */
  private static final Map<Class<?>, MethodHandle> SEGMENT_OF =
      Map.of(
          byte[].class, segmentOf(byte[].class),
          short[].class, segmentOf(short[].class),
          int[].class, segmentOf(int[].class),
          float[].class, segmentOf(float[].class));

  private NativeFunctions() {}

  /** The detected library and instruction sets, or the reason why there are none. */
  private record DetectedCpu(
      NativeLibrary library,
      Set<InstructionSet> instructions,
      boolean amx,
      NativeUnavailableException why) {
    static final DetectedCpu INSTANCE = detect();

    private static DetectedCpu detect() {
      try {
        Platform platform = Platform.ofThisProcess();
        NativeLibrary library = NativeLibrary.load(platform.library());
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

  /** Returns why native kernels are unavailable, or null if they are available. */
  static NativeUnavailableException unavailable() {
    return DetectedCpu.INSTANCE.why();
  }

  /** Returns the best available set for products of codes. */
  static InstructionSet integerInstructions() {
    return DetectedCpu.INSTANCE.instructions().stream()
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * Returns whether AMX multiplies the codes of many rows, in addition to {@link
   * #integerInstructions}.
   */
  static boolean hasAmx() {
    return DetectedCpu.INSTANCE.amx();
  }

  /** Returns the best available set for floats. */
  static InstructionSet floatInstructions() {
    return DetectedCpu.INSTANCE.instructions().stream()
        .filter(each -> each != InstructionSet.DOTPROD && each != InstructionSet.AVXVNNI)
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * Returns a function that multiplies codes.
   *
   * @param arguments types as Java passes them: {@code I}, {@code J} and {@code F} for int, long
   *     and float, {@code M} for a segment, and {@code [} before the elements of an array; spaces
   *     group what belongs together
   */
  static NativeFunction integerFunction(String name, String arguments) {
    return function(name, integerInstructions(), void.class, arguments);
  }

  /** Returns a function on floats. */
  static NativeFunction floatFunction(String name, String arguments) {
    return function(name, floatInstructions(), void.class, arguments);
  }

  /** Returns a function on floats that returns a float. */
  static NativeFunction floatReduction(String name, String arguments) {
    return function(name, floatInstructions(), float.class, arguments);
  }

  /** Returns a function that needs AMX, or null if there is none. */
  static NativeFunction amxFunction(String name, String arguments) {
    return hasAmx() ? link("kv_%s_amx".formatted(name), void.class, arguments) : null;
  }

  private static NativeFunction function(
      String name, InstructionSet set, Class<?> result, String arguments) {
    return link("kv_%s_%s".formatted(name, set.suffix()), result, arguments);
  }

  private static NativeFunction link(String symbol, Class<?> result, String signature) {
    Class<?>[] arguments = types(signature);
    requireArraysFirst(symbol, arguments);
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    MethodHandle[] filters =
        new MethodHandle[arguments.length]; // null for arguments that are passed unchanged
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
   * Throws if an array follows a segment. Java acquires the arguments of a call one after another
   * and releases them in a handler if one fails. Once segments of several classes have been passed,
   * heap and mapped, compilers keep the path to that handler. An array after such a segment is
   * acquired on only one of the paths to it, so its wrapper becomes a 24-byte object in every call.
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

  private static Class<?>[] types(String signature) {
    String letters = signature.replace(" ", "");
    List<Class<?>> types = new ArrayList<>();
    for (int i = 0; i < letters.length(); i++) {
      boolean isArray = letters.charAt(i) == '[';
      Class<?> type = type(letters.charAt(isArray ? ++i : i));
      types.add(isArray ? type.arrayType() : type);
    }
    return types.toArray(Class<?>[]::new);
  }

  private static Class<?> type(char letter) {
    return switch (letter) {
      case 'B' -> byte.class;
      case 'S' -> short.class;
      case 'I' -> int.class;
      case 'J' -> long.class;
      case 'F' -> float.class;
      case 'M' -> MemorySegment.class;
      default -> throw new IllegalArgumentException("no type is called " + letter);
    };
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

  /** Converts what a handle throws. Functions throw nothing, so it is a mistake in the call. */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }
}

package dev.kvasir.natives;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.util.Collections;
import java.util.Comparator;
import java.util.Set;

/**
 * Which functions of the library serve this process, decided once: handles are constants of the
 * classes that call them, or every call would cost several times as much.
 */
final class Calls {
  /** How many of the best sets of instructions are left out, so that tests reach the others. */
  static final String PROPERTY = "kvasir.native.leave-out";

  /** Leaves AMX unused where it is there. */
  static final String WITHOUT_TILES = "kvasir.native.without-tiles";

  /** Partial sums of long sums, which floats must keep; those of the widest vectors otherwise. */
  private static volatile int lanes;

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
    int wanted = lanes == 0 ? Integer.MAX_VALUE : lanes;
    return Found.ONCE.instructions().stream()
        .filter(each -> each != Instructions.DOTPROD && each != Instructions.AVXVNNI)
        .filter(each -> each.lanes() <= wanted)
        .max(Comparator.naturalOrder())
        .orElseThrow(
            () -> new NativeRefusal("there is no kernel for sums in %d parts".formatted(lanes)));
  }

  /** Says how many partial sums floats keep; before any of them is called. */
  static void useLanes(int count) {
    lanes = count;
  }

  static MethodHandle code(String name, MemoryLayout... arguments) {
    return function(name, forCodes(), FunctionDescriptor.ofVoid(arguments));
  }

  static MethodHandle floats(String name, MemoryLayout... arguments) {
    return function(name, forFloats(), FunctionDescriptor.ofVoid(arguments));
  }

  /** A function that needs AMX; null where there is none. */
  static MethodHandle tiles(String name, MemoryLayout... arguments) {
    return hasTiles()
        ? Found.ONCE
            .library()
            .function("kv_%s_amx".formatted(name), FunctionDescriptor.ofVoid(arguments))
        : null;
  }

  static MethodHandle function(String name, Instructions set, FunctionDescriptor type) {
    return Found.ONCE.library().function("kv_%s_%s".formatted(name, set.suffix()), type);
  }

  /** A call of a function throws nothing; what comes is a mistake in how it was called. */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }
}

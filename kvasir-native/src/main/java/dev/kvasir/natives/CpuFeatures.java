package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Detects the instructions that the processor has and the operating system enables. */
final class CpuFeatures {
  private CpuFeatures() {}

  /**
   * @throws NativeUnavailableException if the processor lacks the minimum
   */
  static Set<InstructionSet> instructions(Platform platform, NativeLibrary library) {
    return switch (platform) {
      case LINUX_X86_64, MACOS_X86_64, WINDOWS_X86_64 -> x86(platform, library);
      case LINUX_AARCH64 -> arm(linuxHasDotProducts());
      case MACOS_AARCH64 -> arm(true); // every Mac with an Apple processor has them
      case WINDOWS_AARCH64 -> arm(windowsHasDotProducts());
    };
  }

  private static Set<InstructionSet> arm(boolean dotProducts) {
    return dotProducts
        ? EnumSet.of(InstructionSet.NEON, InstructionSet.DOTPROD)
        : EnumSet.of(InstructionSet.NEON);
  }

  /** Reads a bit of AT_HWCAP, from the kernel's header for aarch64. */
  private static boolean linuxHasDotProducts() {
    return (auxiliaryValue(16) >> 20 & 1) == 1;
  }

  /** PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE; Windows before 11 does not know it and returns false. */
  private static boolean windowsHasDotProducts() {
    MethodHandle isPresent =
        NativeLibrary.ofSystem("kernel32")
            .function("IsProcessorFeaturePresent", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    try {
      return (int) isPresent.invokeExact(43) != 0;
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  /**
   * Returns a value of the auxiliary vector that the kernel passed to this process, or 0. The C
   * library's getauxval does the same but would have to be linked.
   */
  private static long auxiliaryValue(long type) {
    try {
      LongBuffer pairs =
          ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/auxv")))
              .order(ByteOrder.nativeOrder())
              .asLongBuffer();
      while (pairs.remaining() > 1) {
        long found = pairs.get();
        long value = pairs.get();
        if (found == type) {
          return value;
        }
      }
      return 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * Reads cpuid and the register state that the operating system saves. macOS saves AVX-512
   * registers only for threads that have used them, so AVX2 is used there.
   */
  private static Set<InstructionSet> x86(Platform platform, NativeLibrary library) {
    MethodHandle cpuid = cpuid(library);
    int[] first = registers(cpuid, 1, 0);
    boolean hasXgetbv = bit(first[2], 27);
    long saved = hasXgetbv ? savedRegisters(library) : 0;
    // Bits 1 and 2: the registers of SSE and AVX. Bits 5 to 7: masks, and the rest of AVX-512.
    boolean savesAvx = (saved & 0b110) == 0b110;
    boolean saves512 = savesAvx && (saved & 0b1110_0000) == 0b1110_0000;
    int[] seventh = registers(cpuid, 7, 0);
    int[] more = registers(cpuid, 7, 1);
    boolean halves = bit(first[2], 29);
    boolean fused = bit(first[2], 12);
    if (!(savesAvx && bit(seventh[1], 5) && halves && fused)) {
      throw new NativeUnavailableException(
          "this processor does not offer AVX2, FMA and F16C, which the native kernels need; "
              + (platform == Platform.MACOS_X86_64
                  ? "on a Mac with an Apple processor run a Java for aarch64"
                  : "in a virtual machine pass the host's processor through"));
    }
    Set<InstructionSet> found = EnumSet.of(InstructionSet.AVX2);
    if (bit(more[0], 4)) {
      found.add(InstructionSet.AVXVNNI);
    }
    boolean foundation = bit(seventh[1], 16) && bit(seventh[1], 17);
    boolean bytesAndShorter = bit(seventh[1], 30) && bit(seventh[1], 31);
    if (saves512 && foundation && bytesAndShorter && bit(seventh[2], 11)) {
      found.add(InstructionSet.AVX512);
    }
    return found;
  }

  /**
   * Returns whether AMX multiplies bytes here and the operating system grants its registers on
   * request. These kernels do not know how to request them on Windows.
   */
  static boolean hasAmx(Platform platform, NativeLibrary library) {
    if (platform != Platform.LINUX_X86_64) {
      return false;
    }
    int[] seventh = registers(cpuid(library), 7, 0);
    // Bits 17 and 18: the registers of AMX, and their shapes.
    boolean saved = (savedRegisters(library) >> 17 & 0b11) == 0b11;
    return saved && bit(seventh[3], 24) && bit(seventh[3], 25) && granted(library);
  }

  private static boolean granted(NativeLibrary library) {
    MethodHandle ask = library.function("kv_ask_for_tiles", FunctionDescriptor.of(JAVA_LONG));
    try {
      return (long) ask.invokeExact() == 0;
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static MethodHandle cpuid(NativeLibrary library) {
    return library.function("kv_cpuid", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, ADDRESS));
  }

  private static boolean bit(int register, int bit) {
    return (register >> bit & 1) == 1;
  }

  /** eax, ebx, ecx, edx. */
  private static int[] registers(MethodHandle cpuid, int leaf, int part) {
    int[] registers = new int[4];
    MemorySegment out = MemorySegment.ofArray(registers);
    try {
      cpuid.invokeExact(leaf, part, out);
      return registers;
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static long savedRegisters(NativeLibrary library) {
    MethodHandle xgetbv = library.function("kv_xgetbv", FunctionDescriptor.of(JAVA_LONG));
    try {
      return (long) xgetbv.invokeExact();
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }
}

package dev.kvasir.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the codes of {@link QuantizedWeights} are: integers of 4, 5, 6 or 8 bits, or 4-bit indices
 * of sixteen levels.
 *
 * <pre>
 * integers:  code = lowest + stored bits      8 bits: lowest = -128
 * levels:    code = levels[stored bits]       signed bytes
 * </pre>
 */
public final class WeightCodes {
  public static final WeightCodes NIBBLES = new WeightCodes(4, 0, null);
  public static final WeightCodes BYTES = new WeightCodes(8, Byte.MIN_VALUE, null);

  private static final int LEVELS = 16;

  /** Few types have levels, so their native memory is never freed. */
  private static final Map<ByteBuffer, WeightCodes> ALL_LEVELS = new ConcurrentHashMap<>();

  private final int bits;
  private final int lowest;
  private final byte[] levels; // null for integers
  private final MemorySegment nativeLevels;
  private final byte[] indices; // of levels, by code + 128

  private WeightCodes(int bits, int lowest, byte[] levels) {
    this.bits = bits;
    this.lowest = lowest;
    this.levels = levels;
    this.nativeLevels = levels == null ? MemorySegment.NULL : nativeCopy(levels);
    this.indices = levels == null ? null : indices(levels);
  }

  /** Returns the smallest codes that hold the integers {@code lowest} to {@code highest}. */
  public static WeightCodes of(int lowest, int highest) {
    if (lowest < Byte.MIN_VALUE || highest > Byte.MAX_VALUE || lowest > highest) {
      throw new IllegalArgumentException(
          "codes from %d to %d; expected signed bytes".formatted(lowest, highest));
    }
    if (lowest >= 0 && highest < 16) {
      return NIBBLES;
    }
    // Kernels read the stored bits as signed bytes, so a sum with the lowest must fit a byte.
    int span = highest - lowest;
    return span < 32
        ? new WeightCodes(5, lowest, null)
        : span < 64 ? new WeightCodes(6, lowest, null) : BYTES;
  }

  /** Returns codes that take sixteen values. Where two are equal, the first one is stored. */
  public static WeightCodes levels(byte[] levels) {
    if (levels.length != LEVELS) {
      throw new IllegalArgumentException("%d levels; expected %d".formatted(levels.length, LEVELS));
    }
    return ALL_LEVELS.computeIfAbsent(
        ByteBuffer.wrap(levels.clone()), codes -> new WeightCodes(4, 0, codes.array()));
  }

  private static MemorySegment nativeCopy(byte[] levels) {
    return Arena.global().allocate(LEVELS, LEVELS).copyFrom(MemorySegment.ofArray(levels));
  }

  private static byte[] indices(byte[] levels) {
    byte[] indices = new byte[256];
    for (int i = LEVELS - 1; i >= 0; i--) {
      indices[levels[i] + 128] = (byte) i;
    }
    return indices;
  }

  /** Returns the bits that store a code. */
  public int bits() {
    return bits;
  }

  /** Returns the code that zero bits store, unless codes are levels. */
  public int lowest() {
    return lowest;
  }

  public boolean areLevels() {
    return levels != null;
  }

  /** Returns the sixteen levels in native memory, or {@link MemorySegment#NULL}. */
  public MemorySegment nativeLevels() {
    return nativeLevels;
  }

  /** Returns the bits above the lowest four. */
  int upperBits() {
    return bits == 8 ? 0 : bits - 4;
  }

  /** Returns what is stored for a code of at most six bits. */
  int stored(byte code) {
    return levels == null ? code - lowest : indices[code + 128];
  }

  /** Returns the code of at most six stored bits. */
  int code(int stored) {
    return levels == null ? lowest + stored : levels[stored];
  }

  @Override
  public String toString() {
    return areLevels() ? "levels" : "%d bits from %d".formatted(bits, lowest);
  }
}

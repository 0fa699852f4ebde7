package dev.kvasir.simd;

import dev.kvasir.kernel.DenseMatrix.Precision;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Sixteen-bit floats to floats. */
final class HalfFloats {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS =
      VectorSpecies.of(short.class, VectorShape.forBitSize(FLOATS.vectorBitSize() / 2));
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ORDER);
  private static final int LANES = FLOATS.length();

  /** The sign, and the fifteen bits below it moved to a float's place. */
  static final int HALF_BITS = 0x8FFFE000;

  /** A float's exponent counts from 127, a half's from 15; the product also lifts subnormals. */
  private static final float EXPONENT_LIFT = 0x1p112f;

  /** Of two halves in a 32-bit lane, the odd one. */
  static final int UPPER_HALF = 0xFFFF0000;

  private HalfFloats() {}

  /** What makes up for bits that were moved to a float's place and not lifted. */
  static float lift(Precision precision) {
    return precision == Precision.F16 ? EXPONENT_LIFT : 1;
  }

  /** Infinities, which neither weights nor caches may hold, come out as 65536 and above. */
  static void expandHalf(MemorySegment source, long offset, float[] out, int outAt, int count) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits =
          (IntVector)
              ShortVector.fromMemorySegment(SHORTS, source, offset + 2L * i, ORDER)
                  .convertShape(VectorOperators.S2I, INTS, 0);
      bits.lanewise(VectorOperators.LSHL, 13)
          .and(HALF_BITS)
          .reinterpretAsFloats()
          .mul(EXPONENT_LIFT)
          .intoArray(out, outAt + i);
    }
    for (; i < count; i++) {
      out[outAt + i] = Float.float16ToFloat(source.get(SHORT, offset + 2L * i));
    }
  }

  static void expandBrainHalf(
      MemorySegment source, long offset, float[] out, int outAt, int count) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits =
          (IntVector)
              ShortVector.fromMemorySegment(SHORTS, source, offset + 2L * i, ORDER)
                  .convertShape(VectorOperators.S2I, INTS, 0);
      bits.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(out, outAt + i);
    }
    for (; i < count; i++) {
      out[outAt + i] = Float.intBitsToFloat(source.get(SHORT, offset + 2L * i) << 16);
    }
  }
}

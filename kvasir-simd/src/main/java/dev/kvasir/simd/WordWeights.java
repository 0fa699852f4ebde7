package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ABS;
import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.MAX;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.CodeWeights;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/** Rounds weights to integers, and these to digits. */
final class WordWeights {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final int LANES = FLOATS.length();
  private static final int PARTS = CodeWeights.PARTS;
  private static final int LOW_BITS = CodeWeights.LOW_BITS;
  private static final int ROUNDER_BITS = Float.floatToRawIntBits(CodeWeights.ROUNDER);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * One thread's room.
   *
   * @param sums partial sums of weights, and the largest of them
   * @param high digits as whole bytes // (entries)
   * @param low the same
   */
  private record Room(float[] sums, int[] high, int[] low) {
    private static final ThreadLocal<Room> OF_THREAD =
        ThreadLocal.withInitial(
            () ->
                new Room(
                    new float[2 * PARTS],
                    new int[CodeWeights.MOST_ENTRIES],
                    new int[CodeWeights.MOST_ENTRIES]));
  }

  private WordWeights() {}

  /** Rounds what lies in the products of a head. */
  static void round(int head, CodeWeights weights) {
    Room room = Room.OF_THREAD.get();
    int padded = CodeWeights.padded(weights.entries());
    int at = head * padded;
    float[] products = weights.products();
    for (int part = 0; part < PARTS; part += LANES) {
      survey(products, at + part, at + padded, room.sums, part);
    }
    float scale = weights.scale(head, largest(room.sums));
    int total = round(products, at, padded, scale, weights.exact(), room.high, room.low);
    weights.complete(head, LaneSums.sixteen(room.sums, 0), total);
    lay(room.high, head, weights);
    if (weights.exact()) {
      lay(room.low, weights.heads() + head, weights);
    }
  }

  /** The dot product of two rows of one array. */
  static float dot(float[] x, int at, int otherAt, int padded) {
    float[] sums = Room.OF_THREAD.get().sums;
    for (int part = 0; part < PARTS; part += LANES) {
      dot(x, at + part, otherAt + part, at + padded, sums, part);
    }
    return LaneSums.sixteen(sums, 0);
  }

  private static void dot(float[] x, int from, int otherFrom, int end, float[] sums, int to) {
    FloatVector sum = FloatVector.zero(FLOATS);
    for (int e = from; e < end; e += PARTS) {
      FloatVector other = FloatVector.fromArray(FLOATS, x, otherFrom + e - from);
      sum = FloatVector.fromArray(FLOATS, x, e).lanewise(FMA, other, sum);
    }
    sum.intoArray(sums, to);
  }

  /** Leaves partial sums and the largest magnitudes, lane by lane. */
  private static void survey(float[] w, int from, int end, float[] sums, int to) {
    FloatVector sum = FloatVector.zero(FLOATS);
    FloatVector largest = FloatVector.zero(FLOATS);
    for (int e = from; e < end; e += PARTS) {
      FloatVector x = FloatVector.fromArray(FLOATS, w, e);
      sum = sum.lanewise(ADD, x);
      largest = largest.lanewise(MAX, x.lanewise(ABS));
    }
    sum.intoArray(sums, to);
    largest.intoArray(sums, PARTS + to);
  }

  private static float largest(float[] sums) {
    float largest = 0;
    for (int part = PARTS; part < 2 * PARTS; part++) {
      largest = Math.max(largest, sums[part]);
    }
    return largest;
  }

  /** Answers the sum of the integers. */
  private static int round(
      float[] w, int at, int count, float scale, boolean exact, int[] high, int[] low) {
    FloatVector scales = FloatVector.broadcast(FLOATS, scale);
    FloatVector rounder = FloatVector.broadcast(FLOATS, CodeWeights.ROUNDER);
    IntVector sum = IntVector.zero(INTS);
    int half = exact ? 1 << LOW_BITS - 1 : 0;
    int shift = exact ? LOW_BITS : 0;
    for (int e = 0; e < count; e += LANES) {
      IntVector rounded =
          FloatVector.fromArray(FLOATS, w, at + e)
              .lanewise(MUL, scales)
              .lanewise(ADD, rounder)
              .reinterpretAsInts()
              .lanewise(SUB, ROUNDER_BITS);
      sum = sum.lanewise(ADD, rounded);
      IntVector upper = rounded.lanewise(ADD, half).lanewise(ASHR, shift);
      upper.lanewise(AND, 0xFF).intoArray(high, e);
      rounded.lanewise(SUB, upper.lanewise(LSHL, shift)).lanewise(AND, 0xFF).intoArray(low, e);
    }
    return sum.reduceLanes(ADD);
  }

  /** A row of digits becomes the row's quads. */
  private static void lay(int[] row, int index, CodeWeights weights) {
    byte[] digits = weights.digits();
    int at = weights.digitsAt(index, 0);
    int step = 4 * weights.rows();
    for (int quad = 0; quad < weights.quads(); quad++) {
      int e = 4 * quad;
      int four = row[e] | row[e + 1] << 8 | row[e + 2] << 16 | row[e + 3] << 24;
      INT.set(digits, at + quad * step, four);
    }
  }
}

package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ABS;
import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.MAX;
import static jdk.incubator.vector.VectorOperators.MIN;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.OR;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.LookupTables;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Fills the tables of look-ups. Weights become 16-bit fixed-point numbers, four quads at a time,
 * one quad to a 32-bit lane; then the sixteen subset sums of a quad are two vectors of eight,
 * without and with entry c, whose high bytes are the table.
 *
 * <p>The loops that fill tables contain vector calls only: a helper that takes or returns vectors
 * may not be inlined into a loop this large.
 */
final class PlaneTables {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final int LANES = FLOATS.length();
  private static final int SUMS = BYTES.length();

  /** Numbers of a quad: four weights, and where its subset sums begin. */
  private static final int FIXED_NUMBERS = 5;

  private static final int ROUNDER_BITS = Float.floatToRawIntBits(LookupTables.ROUNDER);
  private static final FloatVector ROUNDER = FloatVector.broadcast(FLOATS, LookupTables.ROUNDER);
  private static final IntVector ROUNDERS = IntVector.broadcast(INTS, ROUNDER_BITS);
  private static final IntVector LOW_HALF = IntVector.broadcast(INTS, 0xFFFF);
  private static final IntVector ZERO = IntVector.zero(INTS);

  /**
   * Bytes of a vector of four quads' numbers, zero in their high halves, that spread the number of
   * one quad over the lanes whose subset has entry c + kQ; where it is not, the zeros. For k = 0
   * all lanes have it. // (quads, k, 16)
   */
  private static final byte[] SPREAD = spread();

  private static final int FINE_SHIFT = LookupTables.FIXED_BITS - LookupTables.FINE_BITS;
  private static final ShortVector FINE_LOW =
      ShortVector.broadcast(SHORTS, (1 << LookupTables.FINE_BITS) - 1);
  private static final ShortVector FINE_HIGH =
      ShortVector.broadcast(SHORTS, (1 << LookupTables.FINE_BITS) - 1 << 8);
  private static final ShortVector HIGH_BYTE = ShortVector.broadcast(SHORTS, (short) 0xFF00);

  /**
   * What tables are completed by.
   *
   * @param digits sums over quads, of two bytes and of the odd one, for each digit // (heads, 4, 8)
   * @param weights the sum of all weights // (heads)
   */
  private record Totals(short[] digits, float[] weights) {}

  private static final ThreadLocal<Totals> TOTALS =
      ThreadLocal.withInitial(
          () ->
              new Totals(
                  new short[LookupTables.MOST_HEADS * 4 * SHORTS.length()],
                  new float[LookupTables.MOST_HEADS]));

  private PlaneTables() {}

  private static byte[] spread() {
    byte[] spread = new byte[LANES * 4 * SUMS];
    for (int i = 0; i < spread.length; i++) {
      int quad = i / (4 * SUMS);
      int k = i / SUMS % 4;
      int lane = i % SUMS / 2;
      boolean present = k == 0 || (lane >> k - 1 & 1) == 1;
      spread[i] = (byte) (4 * quad + (present ? 0 : 2) + i % 2);
    }
    return spread;
  }

  static void build(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    tables.begin(heads, entries, exact);
    int quads = tables.quads();
    int fixedLength = FIXED_NUMBERS * Math.ceilDiv(quads, LANES) * LANES;
    float[] lanes = LaneSums.scratch();
    Totals totals = TOTALS.get();
    for (int head = 0; head < heads; head++) {
      int from = at + head * stride;
      survey(weights, from, quads, lanes);
      totals.weights[head] = sum(weights, from, quads, lanes);
      float scale = tables.scale(head, largest(weights, from, quads, lanes));
      int to = head * fixedLength;
      fix(weights, from, quads, scale, tables.rounding(), tables.fixedPoint(), to);
    }
    int tableBytes = tables.pairAt(1, 0);
    int singles = tables.singleAt(0, 0);
    if (exact) {
      fillBoth(
          tables.fixedPoint(), fixedLength, heads, tables.bytes(), tableBytes, singles, totals);
    } else {
      fill(tables.fixedPoint(), fixedLength, heads, tables.bytes(), tableBytes, singles, totals);
    }
    for (int head = 0; head < heads; head++) {
      int fine = exact ? total(totals.digits, 4 * head + 2) : 0;
      tables.complete(head, totals.weights[head], total(totals.digits, 4 * head), fine);
    }
  }

  /** Leaves partial sums and the largest sums of magnitudes, lane by lane. */
  private static void survey(float[] w, int at, int quads, float[] lanes) {
    FloatVector sums = FloatVector.zero(FLOATS);
    FloatVector largest = FloatVector.zero(FLOATS);
    for (int c = 0; c <= quads - LANES; c += LANES) {
      FloatVector w0 = FloatVector.fromArray(FLOATS, w, at + c);
      FloatVector w1 = FloatVector.fromArray(FLOATS, w, at + c + quads);
      FloatVector w2 = FloatVector.fromArray(FLOATS, w, at + c + 2 * quads);
      FloatVector w3 = FloatVector.fromArray(FLOATS, w, at + c + 3 * quads);
      sums = w0.lanewise(ADD, w1).lanewise(ADD, w2.lanewise(ADD, w3)).lanewise(ADD, sums);
      largest =
          w0.lanewise(ABS)
              .lanewise(ADD, w1.lanewise(ABS))
              .lanewise(ADD, w2.lanewise(ABS).lanewise(ADD, w3.lanewise(ABS)))
              .lanewise(MAX, largest);
    }
    sums.intoArray(lanes, 0);
    largest.intoArray(lanes, LANES);
  }

  private static float sum(float[] w, int at, int quads, float[] lanes) {
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) {
      sum += lanes[lane];
    }
    for (int c = at + quads - quads % LANES; c < at + quads; c++) {
      sum += (w[c] + w[c + quads]) + (w[c + 2 * quads] + w[c + 3 * quads]);
    }
    return sum;
  }

  private static float largest(float[] w, int at, int quads, float[] lanes) {
    float largest = 0;
    for (int lane = LANES; lane < 2 * LANES; lane++) {
      largest = Math.max(largest, lanes[lane]);
    }
    for (int c = at + quads - quads % LANES; c < at + quads; c++) {
      float lower = Math.abs(w[c]) + Math.abs(w[c + quads]);
      float upper = Math.abs(w[c + 2 * quads]) + Math.abs(w[c + 3 * quads]);
      largest = Math.max(largest, lower + upper);
    }
    return largest;
  }

  /** As many quads as fill vectors, those beyond the last with weights of zero. */
  private static void fix(
      float[] w, int at, int quads, float scale, int rounding, int[] fixed, int fixedAt) {
    FloatVector scales = FloatVector.broadcast(FLOATS, scale);
    IntVector start = IntVector.broadcast(INTS, rounding);
    int c = 0;
    for (; c <= quads - LANES; c += LANES) {
      int to = fixedAt + FIXED_NUMBERS * c;
      IntVector steps0 =
          FloatVector.fromArray(FLOATS, w, at + c)
              .lanewise(MUL, scales)
              .lanewise(ADD, ROUNDER)
              .reinterpretAsInts()
              .lanewise(SUB, ROUNDERS);
      IntVector steps1 =
          FloatVector.fromArray(FLOATS, w, at + c + quads)
              .lanewise(MUL, scales)
              .lanewise(ADD, ROUNDER)
              .reinterpretAsInts()
              .lanewise(SUB, ROUNDERS);
      IntVector steps2 =
          FloatVector.fromArray(FLOATS, w, at + c + 2 * quads)
              .lanewise(MUL, scales)
              .lanewise(ADD, ROUNDER)
              .reinterpretAsInts()
              .lanewise(SUB, ROUNDERS);
      IntVector steps3 =
          FloatVector.fromArray(FLOATS, w, at + c + 3 * quads)
              .lanewise(MUL, scales)
              .lanewise(ADD, ROUNDER)
              .reinterpretAsInts()
              .lanewise(SUB, ROUNDERS);
      steps0.lanewise(AND, LOW_HALF).intoArray(fixed, to);
      steps1.lanewise(AND, LOW_HALF).intoArray(fixed, to + LANES);
      steps2.lanewise(AND, LOW_HALF).intoArray(fixed, to + 2 * LANES);
      steps3.lanewise(AND, LOW_HALF).intoArray(fixed, to + 3 * LANES);
      IntVector below =
          steps0
              .lanewise(MIN, ZERO)
              .lanewise(ADD, steps1.lanewise(MIN, ZERO))
              .lanewise(ADD, steps2.lanewise(MIN, ZERO).lanewise(ADD, steps3.lanewise(MIN, ZERO)));
      start.lanewise(SUB, below).intoArray(fixed, to + 4 * LANES);
    }
    for (int lane = 0; c + lane < Math.ceilDiv(quads, LANES) * LANES; lane++) {
      int to = fixedAt + FIXED_NUMBERS * c + lane;
      int begin = rounding;
      for (int k = 0; k < 4; k++) {
        float weight = c + lane < quads ? w[at + c + lane + k * quads] : 0;
        int steps = Float.floatToRawIntBits(weight * scale + LookupTables.ROUNDER) - ROUNDER_BITS;
        fixed[to + k * LANES] = steps & 0xFFFF;
        begin -= Math.min(steps, 0);
      }
      fixed[to + 4 * LANES] = begin;
    }
  }

  private static void fill(
      int[] fixed,
      int fixedLength,
      int heads,
      byte[] bytes,
      int tableBytes,
      int singles,
      Totals totals) {
    int blocks = fixedLength / (FIXED_NUMBERS * LANES);
    for (int head = 0; head < heads; head++) {
      int fixedAt = head * fixedLength;
      int pairsAt = head * tableBytes;
      int singlesAt = pairsAt + singles;
      ShortVector both = ShortVector.zero(SHORTS);
      ShortVector odd = ShortVector.zero(SHORTS);
      for (int block = 0; block < blocks; block++) {
        int from = fixedAt + block * FIXED_NUMBERS * LANES;
        for (int quad = 0; quad < LANES; quad++) {
          ByteVector all = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS);
          ByteVector some1 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + SUMS);
          ByteVector some2 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + 2 * SUMS);
          ByteVector some3 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + 3 * SUMS);
          ByteVector w0 = IntVector.fromArray(INTS, fixed, from).reinterpretAsBytes();
          ByteVector w1 = IntVector.fromArray(INTS, fixed, from + LANES).reinterpretAsBytes();
          ByteVector w2 = IntVector.fromArray(INTS, fixed, from + 2 * LANES).reinterpretAsBytes();
          ByteVector w3 = IntVector.fromArray(INTS, fixed, from + 3 * LANES).reinterpretAsBytes();
          ByteVector start =
              IntVector.fromArray(INTS, fixed, from + 4 * LANES).reinterpretAsBytes();
          ShortVector without =
              all.selectFrom(start)
                  .reinterpretAsShorts()
                  .lanewise(ADD, some1.selectFrom(w1).reinterpretAsShorts())
                  .lanewise(ADD, some2.selectFrom(w2).reinterpretAsShorts())
                  .lanewise(ADD, some3.selectFrom(w3).reinterpretAsShorts());
          ShortVector with = without.lanewise(ADD, all.selectFrom(w0).reinterpretAsShorts());
          ShortVector sums = without.lanewise(LSHR, 8).lanewise(OR, with.lanewise(AND, HIGH_BYTE));
          int pair = pairsAt + (4 * block + quad) * LookupTables.ROW_BYTES;
          int single = singlesAt + (4 * block + quad) * SUMS;
          both = sums.lanewise(ADD, both);
          odd = sums.lanewise(LSHR, 8).lanewise(ADD, odd);
          ByteVector table = sums.reinterpretAsBytes();
          table.intoArray(bytes, pair);
          table.intoArray(bytes, single);
          sums.lanewise(ADD, sums).reinterpretAsBytes().intoArray(bytes, pair + SUMS);
        }
      }
      both.intoArray(totals.digits, 4 * head * SHORTS.length());
      odd.intoArray(totals.digits, (4 * head + 1) * SHORTS.length());
    }
  }

  /** The same with second digits. */
  private static void fillBoth(
      int[] fixed,
      int fixedLength,
      int heads,
      byte[] bytes,
      int tableBytes,
      int singles,
      Totals totals) {
    int fine = heads * tableBytes;
    int blocks = fixedLength / (FIXED_NUMBERS * LANES);
    for (int head = 0; head < heads; head++) {
      int fixedAt = head * fixedLength;
      int pairsAt = head * tableBytes;
      int singlesAt = pairsAt + singles;
      ShortVector both = ShortVector.zero(SHORTS);
      ShortVector odd = ShortVector.zero(SHORTS);
      ShortVector bothFine = ShortVector.zero(SHORTS);
      ShortVector oddFine = ShortVector.zero(SHORTS);
      for (int block = 0; block < blocks; block++) {
        int from = fixedAt + block * FIXED_NUMBERS * LANES;
        for (int quad = 0; quad < LANES; quad++) {
          ByteVector all = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS);
          ByteVector some1 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + SUMS);
          ByteVector some2 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + 2 * SUMS);
          ByteVector some3 = ByteVector.fromArray(BYTES, SPREAD, 4 * quad * SUMS + 3 * SUMS);
          ByteVector w0 = IntVector.fromArray(INTS, fixed, from).reinterpretAsBytes();
          ByteVector w1 = IntVector.fromArray(INTS, fixed, from + LANES).reinterpretAsBytes();
          ByteVector w2 = IntVector.fromArray(INTS, fixed, from + 2 * LANES).reinterpretAsBytes();
          ByteVector w3 = IntVector.fromArray(INTS, fixed, from + 3 * LANES).reinterpretAsBytes();
          ByteVector start =
              IntVector.fromArray(INTS, fixed, from + 4 * LANES).reinterpretAsBytes();
          ShortVector without =
              all.selectFrom(start)
                  .reinterpretAsShorts()
                  .lanewise(ADD, some1.selectFrom(w1).reinterpretAsShorts())
                  .lanewise(ADD, some2.selectFrom(w2).reinterpretAsShorts())
                  .lanewise(ADD, some3.selectFrom(w3).reinterpretAsShorts());
          ShortVector with = without.lanewise(ADD, all.selectFrom(w0).reinterpretAsShorts());
          ShortVector sums = without.lanewise(LSHR, 8).lanewise(OR, with.lanewise(AND, HIGH_BYTE));
          int pair = pairsAt + (4 * block + quad) * LookupTables.ROW_BYTES;
          int single = singlesAt + (4 * block + quad) * SUMS;
          both = sums.lanewise(ADD, both);
          odd = sums.lanewise(LSHR, 8).lanewise(ADD, odd);
          ByteVector table = sums.reinterpretAsBytes();
          table.intoArray(bytes, pair);
          table.intoArray(bytes, single);
          sums.lanewise(ADD, sums).reinterpretAsBytes().intoArray(bytes, pair + SUMS);
          ShortVector rests =
              without
                  .lanewise(LSHR, FINE_SHIFT)
                  .lanewise(AND, FINE_LOW)
                  .lanewise(OR, with.lanewise(LSHL, 8 - FINE_SHIFT).lanewise(AND, FINE_HIGH));
          bothFine = rests.lanewise(ADD, bothFine);
          oddFine = rests.lanewise(LSHR, 8).lanewise(ADD, oddFine);
          ByteVector fineTable = rests.reinterpretAsBytes();
          fineTable.intoArray(bytes, pair + fine);
          fineTable.intoArray(bytes, single + fine);
          rests.lanewise(ADD, rests).reinterpretAsBytes().intoArray(bytes, pair + fine + SUMS);
        }
      }
      both.intoArray(totals.digits, 4 * head * SHORTS.length());
      odd.intoArray(totals.digits, (4 * head + 1) * SHORTS.length());
      bothFine.intoArray(totals.digits, (4 * head + 2) * SHORTS.length());
      oddFine.intoArray(totals.digits, (4 * head + 3) * SHORTS.length());
    }
  }

  /** The sum of all entries; those of the odd bytes were counted 256 times in the first vector. */
  private static int total(short[] totals, int vector) {
    int total = 0;
    for (int lane = 0; lane < SHORTS.length(); lane++) {
      int odd = totals[(vector + 1) * SHORTS.length() + lane];
      total += (totals[vector * SHORTS.length() + lane] - (odd << 8) & 0xFFFF) + odd;
    }
    return total;
  }
}

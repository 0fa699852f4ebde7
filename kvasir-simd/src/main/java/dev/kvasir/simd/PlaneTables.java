package dev.kvasir.simd;

import dev.kvasir.kernel.LookupTables;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Fills the tables of look-ups. Weights become 16-bit fixed-point numbers, four quads at a time;
 * then the sixteen subset sums of a quad are two vectors of eight, without and with entry c, whose
 * high bytes are the table.
 */
final class PlaneTables {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final int LANES = FLOATS.length();
  private static final int SUMS = ByteVector.SPECIES_128.length();
  private static final int ROUNDER_BITS = Float.floatToRawIntBits(LookupTables.ROUNDER);

  /** Which lanes have entry c + kQ in their subset, for k = 1, 2, 3. */
  private static final ShortVector WITH_1 = lanesWith(0);

  private static final ShortVector WITH_2 = lanesWith(1);
  private static final ShortVector WITH_3 = lanesWith(2);

  private static final int FINE_SHIFT = LookupTables.FIXED_BITS - LookupTables.FINE_BITS;
  private static final short FINE_LOW = (1 << LookupTables.FINE_BITS) - 1;
  private static final short FINE_HIGH = FINE_LOW << 8;
  private static final short HIGH_BYTE = (short) 0xFF00;

  /** Sums over quads: of two bytes and of the odd one, for each digit. */
  private static final ThreadLocal<short[]> TOTALS =
      ThreadLocal.withInitial(() -> new short[4 * SHORTS.length()]);

  private PlaneTables() {}

  private static ShortVector lanesWith(int bit) {
    short[] mask = new short[SHORTS.length()];
    for (int lane = 0; lane < mask.length; lane++) {
      mask[lane] = (short) -(lane >> bit & 1);
    }
    return ShortVector.fromArray(SHORTS, mask, 0);
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
    float[] lanes = LaneSums.scratch();
    short[] totals = TOTALS.get();
    for (int head = 0; head < heads; head++) {
      int from = at + head * stride;
      survey(weights, from, quads, lanes);
      float sum = sum(weights, from, quads, lanes);
      float scale = tables.scale(head, largest(weights, from, quads, lanes));
      fix(weights, from, quads, scale, tables.rounding(), tables.fixedPoint());
      int first = head * LookupTables.QUAD_BYTES;
      int step = tables.quadStride();
      if (exact) {
        int fine = heads * LookupTables.QUAD_BYTES;
        fillBoth(tables.fixedPoint(), quads, tables.bytes(), first, fine, step, totals);
        tables.complete(head, sum, total(totals, 0), total(totals, 2));
      } else {
        fill(tables.fixedPoint(), quads, tables.bytes(), first, step, totals);
        tables.complete(head, sum, total(totals, 0), 0);
      }
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
      sums = sums.add(w0.add(w1).add(w2.add(w3)));
      largest = largest.max(w0.abs().add(w1.abs()).add(w2.abs().add(w3.abs())));
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

  private static void fix(float[] w, int at, int quads, float scale, int rounding, int[] fixed) {
    int c = 0;
    for (; c <= quads - LANES; c += LANES) {
      IntVector start = IntVector.broadcast(IntVector.SPECIES_128, rounding);
      for (int k = 0; k < 4; k++) {
        IntVector steps =
            FloatVector.fromArray(FLOATS, w, at + c + k * quads)
                .mul(scale)
                .add(LookupTables.ROUNDER)
                .reinterpretAsInts()
                .sub(ROUNDER_BITS);
        steps.intoArray(fixed, c + k * quads);
        start = start.sub(steps.min(0));
      }
      start.intoArray(fixed, c + 4 * quads);
    }
    for (; c < quads; c++) {
      int start = rounding;
      for (int k = 0; k < 4; k++) {
        float scaled = w[at + c + k * quads] * scale + LookupTables.ROUNDER;
        int steps = Float.floatToRawIntBits(scaled) - ROUNDER_BITS;
        fixed[c + k * quads] = steps;
        start -= Math.min(steps, 0);
      }
      fixed[c + 4 * quads] = start;
    }
  }

  private static void fill(
      int[] fixed, int quads, byte[] bytes, int first, int step, short[] totals) {
    ShortVector both = ShortVector.zero(SHORTS);
    ShortVector odd = ShortVector.zero(SHORTS);
    for (int c = 0; c < quads; c++) {
      ShortVector without =
          ShortVector.broadcast(SHORTS, (short) fixed[c + 4 * quads])
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + quads]).and(WITH_1))
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + 2 * quads]).and(WITH_2))
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + 3 * quads]).and(WITH_3));
      ShortVector with = without.add(ShortVector.broadcast(SHORTS, (short) fixed[c]));
      ShortVector sums = without.lanewise(VectorOperators.LSHR, 8).or(with.and(HIGH_BYTE));
      both = both.add(sums);
      odd = odd.add(sums.lanewise(VectorOperators.LSHR, 8));
      int at = first + c * step;
      sums.reinterpretAsBytes().intoArray(bytes, at);
      sums.add(sums).reinterpretAsBytes().intoArray(bytes, at + SUMS);
    }
    both.intoArray(totals, 0);
    odd.intoArray(totals, SHORTS.length());
  }

  private static void fillBoth(
      int[] fixed, int quads, byte[] bytes, int first, int fine, int step, short[] totals) {
    ShortVector both = ShortVector.zero(SHORTS);
    ShortVector odd = ShortVector.zero(SHORTS);
    ShortVector bothFine = ShortVector.zero(SHORTS);
    ShortVector oddFine = ShortVector.zero(SHORTS);
    for (int c = 0; c < quads; c++) {
      ShortVector without =
          ShortVector.broadcast(SHORTS, (short) fixed[c + 4 * quads])
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + quads]).and(WITH_1))
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + 2 * quads]).and(WITH_2))
              .add(ShortVector.broadcast(SHORTS, (short) fixed[c + 3 * quads]).and(WITH_3));
      ShortVector with = without.add(ShortVector.broadcast(SHORTS, (short) fixed[c]));
      ShortVector sums = without.lanewise(VectorOperators.LSHR, 8).or(with.and(HIGH_BYTE));
      ShortVector rests =
          without
              .lanewise(VectorOperators.LSHR, FINE_SHIFT)
              .and(FINE_LOW)
              .or(with.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
      both = both.add(sums);
      odd = odd.add(sums.lanewise(VectorOperators.LSHR, 8));
      bothFine = bothFine.add(rests);
      oddFine = oddFine.add(rests.lanewise(VectorOperators.LSHR, 8));
      int at = first + c * step;
      sums.reinterpretAsBytes().intoArray(bytes, at);
      sums.add(sums).reinterpretAsBytes().intoArray(bytes, at + SUMS);
      rests.reinterpretAsBytes().intoArray(bytes, at + fine);
      rests.add(rests).reinterpretAsBytes().intoArray(bytes, at + fine + SUMS);
    }
    both.intoArray(totals, 0);
    odd.intoArray(totals, SHORTS.length());
    bothFine.intoArray(totals, 2 * SHORTS.length());
    oddFine.intoArray(totals, 3 * SHORTS.length());
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

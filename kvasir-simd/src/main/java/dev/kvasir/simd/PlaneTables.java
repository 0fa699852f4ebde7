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
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final int LANES = FLOATS.length();
  private static final int SUMS = BYTES.length();
  private static final int ROUNDER_BITS = Float.floatToRawIntBits(LookupTables.ROUNDER);

  /**
   * Bytes of a vector of four quads' numbers, zero in their high halves, that spread the number of
   * one quad over the lanes whose subset has entry c + kQ; where it is not, the zeros. For k = 0
   * all lanes have it. // (quads, k, 16)
   */
  private static final byte[] SPREAD = spread();

  private static final int FINE_SHIFT = LookupTables.FIXED_BITS - LookupTables.FINE_BITS;
  private static final short FINE_LOW = (1 << LookupTables.FINE_BITS) - 1;
  private static final short FINE_HIGH = FINE_LOW << 8;
  private static final short HIGH_BYTE = (short) 0xFF00;

  /** Sums over quads: of two bytes and of the odd one, for each digit. */
  private static final ThreadLocal<short[]> TOTALS =
      ThreadLocal.withInitial(() -> new short[4 * SHORTS.length()]);

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

  /** As many quads as fill vectors, those beyond the last with weights of zero. */
  private static void fix(float[] w, int at, int quads, float scale, int rounding, int[] fixed) {
    int padded = Math.ceilDiv(quads, LANES) * LANES;
    int c = 0;
    for (; c <= quads - LANES; c += LANES) {
      IntVector start = IntVector.broadcast(INTS, rounding);
      for (int k = 0; k < 4; k++) {
        IntVector steps =
            FloatVector.fromArray(FLOATS, w, at + c + k * quads)
                .mul(scale)
                .add(LookupTables.ROUNDER)
                .reinterpretAsInts()
                .sub(ROUNDER_BITS);
        steps.and(0xFFFF).intoArray(fixed, c + k * padded);
        start = start.sub(steps.min(0));
      }
      start.intoArray(fixed, c + 4 * padded);
    }
    for (; c < padded; c++) {
      int start = rounding;
      for (int k = 0; k < 4; k++) {
        float weight = c < quads ? w[at + c + k * quads] : 0;
        int steps = Float.floatToRawIntBits(weight * scale + LookupTables.ROUNDER) - ROUNDER_BITS;
        fixed[c + k * padded] = steps & 0xFFFF;
        start -= Math.min(steps, 0);
      }
      fixed[c + 4 * padded] = start;
    }
  }

  private static void fill(
      int[] fixed, int quads, byte[] bytes, int first, int step, short[] totals) {
    int padded = Math.ceilDiv(quads, LANES) * LANES;
    ShortVector both = ShortVector.zero(SHORTS);
    ShortVector odd = ShortVector.zero(SHORTS);
    for (int quad = 0; quad < LANES; quad++) {
      int s = quad * 4 * SUMS;
      ByteVector all = ByteVector.fromArray(BYTES, SPREAD, s);
      ByteVector some1 = ByteVector.fromArray(BYTES, SPREAD, s + SUMS);
      ByteVector some2 = ByteVector.fromArray(BYTES, SPREAD, s + 2 * SUMS);
      ByteVector some3 = ByteVector.fromArray(BYTES, SPREAD, s + 3 * SUMS);
      for (int c = 0; c < padded; c += LANES) {
        ByteVector w0 = IntVector.fromArray(INTS, fixed, c).reinterpretAsBytes();
        ByteVector w1 = IntVector.fromArray(INTS, fixed, c + padded).reinterpretAsBytes();
        ByteVector w2 = IntVector.fromArray(INTS, fixed, c + 2 * padded).reinterpretAsBytes();
        ByteVector w3 = IntVector.fromArray(INTS, fixed, c + 3 * padded).reinterpretAsBytes();
        ByteVector start = IntVector.fromArray(INTS, fixed, c + 4 * padded).reinterpretAsBytes();
        ShortVector without =
            all.selectFrom(start)
                .reinterpretAsShorts()
                .add(some1.selectFrom(w1).reinterpretAsShorts())
                .add(some2.selectFrom(w2).reinterpretAsShorts())
                .add(some3.selectFrom(w3).reinterpretAsShorts());
        ShortVector with = without.add(all.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums = without.lanewise(VectorOperators.LSHR, 8).or(with.and(HIGH_BYTE));
        both = both.add(sums);
        odd = odd.add(sums.lanewise(VectorOperators.LSHR, 8));
        int at = first + (c + quad) * step;
        sums.reinterpretAsBytes().intoArray(bytes, at);
        sums.add(sums).reinterpretAsBytes().intoArray(bytes, at + SUMS);
      }
    }
    both.intoArray(totals, 0);
    odd.intoArray(totals, SHORTS.length());
  }

  private static void fillBoth(
      int[] fixed, int quads, byte[] bytes, int first, int fine, int step, short[] totals) {
    int padded = Math.ceilDiv(quads, LANES) * LANES;
    ShortVector both = ShortVector.zero(SHORTS);
    ShortVector odd = ShortVector.zero(SHORTS);
    ShortVector bothFine = ShortVector.zero(SHORTS);
    ShortVector oddFine = ShortVector.zero(SHORTS);
    for (int quad = 0; quad < LANES; quad++) {
      int s = quad * 4 * SUMS;
      ByteVector all = ByteVector.fromArray(BYTES, SPREAD, s);
      ByteVector some1 = ByteVector.fromArray(BYTES, SPREAD, s + SUMS);
      ByteVector some2 = ByteVector.fromArray(BYTES, SPREAD, s + 2 * SUMS);
      ByteVector some3 = ByteVector.fromArray(BYTES, SPREAD, s + 3 * SUMS);
      for (int c = 0; c < padded; c += LANES) {
        ByteVector w0 = IntVector.fromArray(INTS, fixed, c).reinterpretAsBytes();
        ByteVector w1 = IntVector.fromArray(INTS, fixed, c + padded).reinterpretAsBytes();
        ByteVector w2 = IntVector.fromArray(INTS, fixed, c + 2 * padded).reinterpretAsBytes();
        ByteVector w3 = IntVector.fromArray(INTS, fixed, c + 3 * padded).reinterpretAsBytes();
        ByteVector start = IntVector.fromArray(INTS, fixed, c + 4 * padded).reinterpretAsBytes();
        ShortVector without =
            all.selectFrom(start)
                .reinterpretAsShorts()
                .add(some1.selectFrom(w1).reinterpretAsShorts())
                .add(some2.selectFrom(w2).reinterpretAsShorts())
                .add(some3.selectFrom(w3).reinterpretAsShorts());
        ShortVector with = without.add(all.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums = without.lanewise(VectorOperators.LSHR, 8).or(with.and(HIGH_BYTE));
        both = both.add(sums);
        odd = odd.add(sums.lanewise(VectorOperators.LSHR, 8));
        int at = first + (c + quad) * step;
        sums.reinterpretAsBytes().intoArray(bytes, at);
        sums.add(sums).reinterpretAsBytes().intoArray(bytes, at + SUMS);
        ShortVector rests =
            without
                .lanewise(VectorOperators.LSHR, FINE_SHIFT)
                .and(FINE_LOW)
                .or(with.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
        bothFine = bothFine.add(rests);
        oddFine = oddFine.add(rests.lanewise(VectorOperators.LSHR, 8));
        rests.reinterpretAsBytes().intoArray(bytes, at + fine);
        rests.add(rests).reinterpretAsBytes().intoArray(bytes, at + fine + SUMS);
      }
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

package dev.kvasir.simd;

import dev.kvasir.kernel.LookupTables;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
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
  private static void fix(
      float[] w, int at, int quads, float scale, int rounding, int[] fixed, int fixedAt) {
    int c = 0;
    for (; c <= quads - LANES; c += LANES) {
      int to = fixedAt + FIXED_NUMBERS * c;
      IntVector steps0 =
          FloatVector.fromArray(FLOATS, w, at + c)
              .mul(scale)
              .add(LookupTables.ROUNDER)
              .reinterpretAsInts()
              .sub(ROUNDER_BITS);
      IntVector steps1 =
          FloatVector.fromArray(FLOATS, w, at + c + quads)
              .mul(scale)
              .add(LookupTables.ROUNDER)
              .reinterpretAsInts()
              .sub(ROUNDER_BITS);
      IntVector steps2 =
          FloatVector.fromArray(FLOATS, w, at + c + 2 * quads)
              .mul(scale)
              .add(LookupTables.ROUNDER)
              .reinterpretAsInts()
              .sub(ROUNDER_BITS);
      IntVector steps3 =
          FloatVector.fromArray(FLOATS, w, at + c + 3 * quads)
              .mul(scale)
              .add(LookupTables.ROUNDER)
              .reinterpretAsInts()
              .sub(ROUNDER_BITS);
      steps0.and(0xFFFF).intoArray(fixed, to);
      steps1.and(0xFFFF).intoArray(fixed, to + LANES);
      steps2.and(0xFFFF).intoArray(fixed, to + 2 * LANES);
      steps3.and(0xFFFF).intoArray(fixed, to + 3 * LANES);
      IntVector below = steps0.min(0).add(steps1.min(0)).add(steps2.min(0).add(steps3.min(0)));
      IntVector.broadcast(INTS, rounding).sub(below).intoArray(fixed, to + 4 * LANES);
    }
    for (int lane = 0; c + lane < Math.ceilDiv(quads, LANES) * LANES; lane++) {
      int to = fixedAt + FIXED_NUMBERS * c + lane;
      int start = rounding;
      for (int k = 0; k < 4; k++) {
        float weight = c + lane < quads ? w[at + c + lane + k * quads] : 0;
        int steps = Float.floatToRawIntBits(weight * scale + LookupTables.ROUNDER) - ROUNDER_BITS;
        fixed[to + k * LANES] = steps & 0xFFFF;
        start -= Math.min(steps, 0);
      }
      fixed[to + 4 * LANES] = start;
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
    ByteVector all0 = ByteVector.fromArray(BYTES, SPREAD, 0 * SUMS);
    ByteVector some01 = ByteVector.fromArray(BYTES, SPREAD, 1 * SUMS);
    ByteVector some02 = ByteVector.fromArray(BYTES, SPREAD, 2 * SUMS);
    ByteVector some03 = ByteVector.fromArray(BYTES, SPREAD, 3 * SUMS);
    ByteVector all1 = ByteVector.fromArray(BYTES, SPREAD, 4 * SUMS);
    ByteVector some11 = ByteVector.fromArray(BYTES, SPREAD, 5 * SUMS);
    ByteVector some12 = ByteVector.fromArray(BYTES, SPREAD, 6 * SUMS);
    ByteVector some13 = ByteVector.fromArray(BYTES, SPREAD, 7 * SUMS);
    ByteVector all2 = ByteVector.fromArray(BYTES, SPREAD, 8 * SUMS);
    ByteVector some21 = ByteVector.fromArray(BYTES, SPREAD, 9 * SUMS);
    ByteVector some22 = ByteVector.fromArray(BYTES, SPREAD, 10 * SUMS);
    ByteVector some23 = ByteVector.fromArray(BYTES, SPREAD, 11 * SUMS);
    ByteVector all3 = ByteVector.fromArray(BYTES, SPREAD, 12 * SUMS);
    ByteVector some31 = ByteVector.fromArray(BYTES, SPREAD, 13 * SUMS);
    ByteVector some32 = ByteVector.fromArray(BYTES, SPREAD, 14 * SUMS);
    ByteVector some33 = ByteVector.fromArray(BYTES, SPREAD, 15 * SUMS);
    int blocks = fixedLength / (FIXED_NUMBERS * LANES);
    for (int head = 0; head < heads; head++) {
      int fixedAt = head * fixedLength;
      int pairsAt = head * tableBytes;
      int singlesAt = pairsAt + singles;
      ShortVector both = ShortVector.zero(SHORTS);
      ShortVector odd = ShortVector.zero(SHORTS);
      for (int block = 0; block < blocks; block++) {
        int from = fixedAt + block * FIXED_NUMBERS * LANES;
        ByteVector w0 = IntVector.fromArray(INTS, fixed, from).reinterpretAsBytes();
        ByteVector w1 = IntVector.fromArray(INTS, fixed, from + LANES).reinterpretAsBytes();
        ByteVector w2 = IntVector.fromArray(INTS, fixed, from + 2 * LANES).reinterpretAsBytes();
        ByteVector w3 = IntVector.fromArray(INTS, fixed, from + 3 * LANES).reinterpretAsBytes();
        ByteVector start = IntVector.fromArray(INTS, fixed, from + 4 * LANES).reinterpretAsBytes();
        int pair = pairsAt + block * 4 * LookupTables.ROW_BYTES;
        int single = singlesAt + block * 4 * SUMS;
        ShortVector without0 =
            all0.selectFrom(start)
                .reinterpretAsShorts()
                .add(some01.selectFrom(w1).reinterpretAsShorts())
                .add(some02.selectFrom(w2).reinterpretAsShorts())
                .add(some03.selectFrom(w3).reinterpretAsShorts());
        ShortVector with0 = without0.add(all0.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums0 = without0.lanewise(VectorOperators.LSHR, 8).or(with0.and(HIGH_BYTE));
        both = both.add(sums0);
        odd = odd.add(sums0.lanewise(VectorOperators.LSHR, 8));
        sums0.reinterpretAsBytes().intoArray(bytes, pair);
        sums0.reinterpretAsBytes().intoArray(bytes, single);
        sums0.add(sums0).reinterpretAsBytes().intoArray(bytes, pair + SUMS);
        ShortVector without1 =
            all1.selectFrom(start)
                .reinterpretAsShorts()
                .add(some11.selectFrom(w1).reinterpretAsShorts())
                .add(some12.selectFrom(w2).reinterpretAsShorts())
                .add(some13.selectFrom(w3).reinterpretAsShorts());
        ShortVector with1 = without1.add(all1.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums1 = without1.lanewise(VectorOperators.LSHR, 8).or(with1.and(HIGH_BYTE));
        both = both.add(sums1);
        odd = odd.add(sums1.lanewise(VectorOperators.LSHR, 8));
        sums1.reinterpretAsBytes().intoArray(bytes, pair + 2 * SUMS);
        sums1.reinterpretAsBytes().intoArray(bytes, single + SUMS);
        sums1.add(sums1).reinterpretAsBytes().intoArray(bytes, pair + 3 * SUMS);
        ShortVector without2 =
            all2.selectFrom(start)
                .reinterpretAsShorts()
                .add(some21.selectFrom(w1).reinterpretAsShorts())
                .add(some22.selectFrom(w2).reinterpretAsShorts())
                .add(some23.selectFrom(w3).reinterpretAsShorts());
        ShortVector with2 = without2.add(all2.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums2 = without2.lanewise(VectorOperators.LSHR, 8).or(with2.and(HIGH_BYTE));
        both = both.add(sums2);
        odd = odd.add(sums2.lanewise(VectorOperators.LSHR, 8));
        sums2.reinterpretAsBytes().intoArray(bytes, pair + 4 * SUMS);
        sums2.reinterpretAsBytes().intoArray(bytes, single + 2 * SUMS);
        sums2.add(sums2).reinterpretAsBytes().intoArray(bytes, pair + 5 * SUMS);
        ShortVector without3 =
            all3.selectFrom(start)
                .reinterpretAsShorts()
                .add(some31.selectFrom(w1).reinterpretAsShorts())
                .add(some32.selectFrom(w2).reinterpretAsShorts())
                .add(some33.selectFrom(w3).reinterpretAsShorts());
        ShortVector with3 = without3.add(all3.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums3 = without3.lanewise(VectorOperators.LSHR, 8).or(with3.and(HIGH_BYTE));
        both = both.add(sums3);
        odd = odd.add(sums3.lanewise(VectorOperators.LSHR, 8));
        sums3.reinterpretAsBytes().intoArray(bytes, pair + 6 * SUMS);
        sums3.reinterpretAsBytes().intoArray(bytes, single + 3 * SUMS);
        sums3.add(sums3).reinterpretAsBytes().intoArray(bytes, pair + 7 * SUMS);
      }
      both.intoArray(totals.digits, 4 * head * SHORTS.length());
      odd.intoArray(totals.digits, (4 * head + 1) * SHORTS.length());
    }
  }

  private static void fillBoth(
      int[] fixed,
      int fixedLength,
      int heads,
      byte[] bytes,
      int tableBytes,
      int singles,
      Totals totals) {
    ByteVector all0 = ByteVector.fromArray(BYTES, SPREAD, 0 * SUMS);
    ByteVector some01 = ByteVector.fromArray(BYTES, SPREAD, 1 * SUMS);
    ByteVector some02 = ByteVector.fromArray(BYTES, SPREAD, 2 * SUMS);
    ByteVector some03 = ByteVector.fromArray(BYTES, SPREAD, 3 * SUMS);
    ByteVector all1 = ByteVector.fromArray(BYTES, SPREAD, 4 * SUMS);
    ByteVector some11 = ByteVector.fromArray(BYTES, SPREAD, 5 * SUMS);
    ByteVector some12 = ByteVector.fromArray(BYTES, SPREAD, 6 * SUMS);
    ByteVector some13 = ByteVector.fromArray(BYTES, SPREAD, 7 * SUMS);
    ByteVector all2 = ByteVector.fromArray(BYTES, SPREAD, 8 * SUMS);
    ByteVector some21 = ByteVector.fromArray(BYTES, SPREAD, 9 * SUMS);
    ByteVector some22 = ByteVector.fromArray(BYTES, SPREAD, 10 * SUMS);
    ByteVector some23 = ByteVector.fromArray(BYTES, SPREAD, 11 * SUMS);
    ByteVector all3 = ByteVector.fromArray(BYTES, SPREAD, 12 * SUMS);
    ByteVector some31 = ByteVector.fromArray(BYTES, SPREAD, 13 * SUMS);
    ByteVector some32 = ByteVector.fromArray(BYTES, SPREAD, 14 * SUMS);
    ByteVector some33 = ByteVector.fromArray(BYTES, SPREAD, 15 * SUMS);
    int blocks = fixedLength / (FIXED_NUMBERS * LANES);
    int fine = heads * tableBytes;
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
        ByteVector w0 = IntVector.fromArray(INTS, fixed, from).reinterpretAsBytes();
        ByteVector w1 = IntVector.fromArray(INTS, fixed, from + LANES).reinterpretAsBytes();
        ByteVector w2 = IntVector.fromArray(INTS, fixed, from + 2 * LANES).reinterpretAsBytes();
        ByteVector w3 = IntVector.fromArray(INTS, fixed, from + 3 * LANES).reinterpretAsBytes();
        ByteVector start = IntVector.fromArray(INTS, fixed, from + 4 * LANES).reinterpretAsBytes();
        int pair = pairsAt + block * 4 * LookupTables.ROW_BYTES;
        int single = singlesAt + block * 4 * SUMS;
        ShortVector without0 =
            all0.selectFrom(start)
                .reinterpretAsShorts()
                .add(some01.selectFrom(w1).reinterpretAsShorts())
                .add(some02.selectFrom(w2).reinterpretAsShorts())
                .add(some03.selectFrom(w3).reinterpretAsShorts());
        ShortVector with0 = without0.add(all0.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums0 = without0.lanewise(VectorOperators.LSHR, 8).or(with0.and(HIGH_BYTE));
        both = both.add(sums0);
        odd = odd.add(sums0.lanewise(VectorOperators.LSHR, 8));
        sums0.reinterpretAsBytes().intoArray(bytes, pair);
        sums0.reinterpretAsBytes().intoArray(bytes, single);
        sums0.add(sums0).reinterpretAsBytes().intoArray(bytes, pair + SUMS);
        ShortVector rests0 =
            without0
                .lanewise(VectorOperators.LSHR, FINE_SHIFT)
                .and(FINE_LOW)
                .or(with0.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
        bothFine = bothFine.add(rests0);
        oddFine = oddFine.add(rests0.lanewise(VectorOperators.LSHR, 8));
        rests0.reinterpretAsBytes().intoArray(bytes, pair + fine);
        rests0.reinterpretAsBytes().intoArray(bytes, single + fine);
        rests0.add(rests0).reinterpretAsBytes().intoArray(bytes, pair + fine + 1 * SUMS);
        ShortVector without1 =
            all1.selectFrom(start)
                .reinterpretAsShorts()
                .add(some11.selectFrom(w1).reinterpretAsShorts())
                .add(some12.selectFrom(w2).reinterpretAsShorts())
                .add(some13.selectFrom(w3).reinterpretAsShorts());
        ShortVector with1 = without1.add(all1.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums1 = without1.lanewise(VectorOperators.LSHR, 8).or(with1.and(HIGH_BYTE));
        both = both.add(sums1);
        odd = odd.add(sums1.lanewise(VectorOperators.LSHR, 8));
        sums1.reinterpretAsBytes().intoArray(bytes, pair + 2 * SUMS);
        sums1.reinterpretAsBytes().intoArray(bytes, single + SUMS);
        sums1.add(sums1).reinterpretAsBytes().intoArray(bytes, pair + 3 * SUMS);
        ShortVector rests1 =
            without1
                .lanewise(VectorOperators.LSHR, FINE_SHIFT)
                .and(FINE_LOW)
                .or(with1.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
        bothFine = bothFine.add(rests1);
        oddFine = oddFine.add(rests1.lanewise(VectorOperators.LSHR, 8));
        rests1.reinterpretAsBytes().intoArray(bytes, pair + fine + 2 * SUMS);
        rests1.reinterpretAsBytes().intoArray(bytes, single + fine + SUMS);
        rests1.add(rests1).reinterpretAsBytes().intoArray(bytes, pair + fine + 3 * SUMS);
        ShortVector without2 =
            all2.selectFrom(start)
                .reinterpretAsShorts()
                .add(some21.selectFrom(w1).reinterpretAsShorts())
                .add(some22.selectFrom(w2).reinterpretAsShorts())
                .add(some23.selectFrom(w3).reinterpretAsShorts());
        ShortVector with2 = without2.add(all2.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums2 = without2.lanewise(VectorOperators.LSHR, 8).or(with2.and(HIGH_BYTE));
        both = both.add(sums2);
        odd = odd.add(sums2.lanewise(VectorOperators.LSHR, 8));
        sums2.reinterpretAsBytes().intoArray(bytes, pair + 4 * SUMS);
        sums2.reinterpretAsBytes().intoArray(bytes, single + 2 * SUMS);
        sums2.add(sums2).reinterpretAsBytes().intoArray(bytes, pair + 5 * SUMS);
        ShortVector rests2 =
            without2
                .lanewise(VectorOperators.LSHR, FINE_SHIFT)
                .and(FINE_LOW)
                .or(with2.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
        bothFine = bothFine.add(rests2);
        oddFine = oddFine.add(rests2.lanewise(VectorOperators.LSHR, 8));
        rests2.reinterpretAsBytes().intoArray(bytes, pair + fine + 4 * SUMS);
        rests2.reinterpretAsBytes().intoArray(bytes, single + fine + 2 * SUMS);
        rests2.add(rests2).reinterpretAsBytes().intoArray(bytes, pair + fine + 5 * SUMS);
        ShortVector without3 =
            all3.selectFrom(start)
                .reinterpretAsShorts()
                .add(some31.selectFrom(w1).reinterpretAsShorts())
                .add(some32.selectFrom(w2).reinterpretAsShorts())
                .add(some33.selectFrom(w3).reinterpretAsShorts());
        ShortVector with3 = without3.add(all3.selectFrom(w0).reinterpretAsShorts());
        ShortVector sums3 = without3.lanewise(VectorOperators.LSHR, 8).or(with3.and(HIGH_BYTE));
        both = both.add(sums3);
        odd = odd.add(sums3.lanewise(VectorOperators.LSHR, 8));
        sums3.reinterpretAsBytes().intoArray(bytes, pair + 6 * SUMS);
        sums3.reinterpretAsBytes().intoArray(bytes, single + 3 * SUMS);
        sums3.add(sums3).reinterpretAsBytes().intoArray(bytes, pair + 7 * SUMS);
        ShortVector rests3 =
            without3
                .lanewise(VectorOperators.LSHR, FINE_SHIFT)
                .and(FINE_LOW)
                .or(with3.lanewise(VectorOperators.LSHL, 8 - FINE_SHIFT).and(FINE_HIGH));
        bothFine = bothFine.add(rests3);
        oddFine = oddFine.add(rests3.lanewise(VectorOperators.LSHR, 8));
        rests3.reinterpretAsBytes().intoArray(bytes, pair + fine + 6 * SUMS);
        rests3.reinterpretAsBytes().intoArray(bytes, single + fine + 3 * SUMS);
        rests3.add(rests3).reinterpretAsBytes().intoArray(bytes, pair + fine + 7 * SUMS);
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

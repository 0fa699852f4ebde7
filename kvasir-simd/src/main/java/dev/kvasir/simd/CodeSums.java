package dev.kvasir.simd;

import dev.kvasir.kernel.FixedRows;
import dev.kvasir.page.Page;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums of rows that codes pick. A token's sums stay in registers while its rows go by, up to eight
 * vectors of them, so the tiles are written out; what they leave is finished by another method.
 */
final class CodeSums {
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Float> FOUR = FloatVector.SPECIES_128;
  private static final int SHORT_LANES = SHORTS.length();
  private static final int LANES = FLOATS.length();
  private static final int HALF = Page.TOKENS / 2;
  private static final byte INDEX = (1 << StageCodes.INDEX_BITS) - 1;

  private CodeSums() {}

  static void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    for (int stage = 0; stage < stages; stage++) {
      long lowAt = offset + (long) stage * StageCodes.STAGE_BYTES;
      int to = 2 * stage * Page.TOKENS;
      for (int u = 0; u < HALF; u += BYTES.length()) {
        ByteVector high = load(source, lowAt + Page.TOKENS + u);
        ByteVector early = load(source, lowAt + u);
        ByteVector late = load(source, lowAt + HALF + u);
        early.and(INDEX).intoArray(indices, to + u);
        late.and(INDEX).intoArray(indices, to + HALF + u);
        early
            .lanewise(VectorOperators.LSHR, StageCodes.INDEX_BITS)
            .or(high.and((byte) 15).lanewise(VectorOperators.LSHL, 2))
            .intoArray(indices, to + Page.TOKENS + u);
        late.lanewise(VectorOperators.LSHR, StageCodes.INDEX_BITS)
            .or(high.lanewise(VectorOperators.LSHR, 2).and((byte) 60))
            .intoArray(indices, to + Page.TOKENS + HALF + u);
      }
    }
  }

  private static ByteVector load(MemorySegment source, long offset) {
    return ByteVector.fromMemorySegment(BYTES, source, offset, ByteOrder.LITTLE_ENDIAN);
  }

  static void rowSums(short[] rows, byte[] indices, int sets, int tokens, int width, short[] sums) {
    for (int token = 0; token < tokens; token++) {
      int at = 0;
      for (; at <= width - 8 * SHORT_LANES; at += 8 * SHORT_LANES) {
        eight(rows, indices, sets, token, width, at, sums);
      }
      for (; at <= width - 4 * SHORT_LANES; at += 4 * SHORT_LANES) {
        four(rows, indices, sets, token, width, at, sums);
      }
      for (; at <= width - 2 * SHORT_LANES; at += 2 * SHORT_LANES) {
        two(rows, indices, sets, token, width, at, sums);
      }
      for (; at < width; at += SHORT_LANES) {
        one(rows, indices, sets, token, width, at, sums);
      }
    }
  }

  private static void eight(
      short[] rows, byte[] indices, int sets, int token, int width, int at, short[] sums) {
    ShortVector s0 = ShortVector.zero(SHORTS);
    ShortVector s1 = s0;
    ShortVector s2 = s0;
    ShortVector s3 = s0;
    ShortVector s4 = s0;
    ShortVector s5 = s0;
    ShortVector s6 = s0;
    ShortVector s7 = s0;
    for (int set = 0; set < sets; set++) {
      int from = (set * FixedRows.ROWS + indices[set * Page.TOKENS + token]) * width + at;
      s0 = s0.add(ShortVector.fromArray(SHORTS, rows, from));
      s1 = s1.add(ShortVector.fromArray(SHORTS, rows, from + SHORT_LANES));
      s2 = s2.add(ShortVector.fromArray(SHORTS, rows, from + 2 * SHORT_LANES));
      s3 = s3.add(ShortVector.fromArray(SHORTS, rows, from + 3 * SHORT_LANES));
      s4 = s4.add(ShortVector.fromArray(SHORTS, rows, from + 4 * SHORT_LANES));
      s5 = s5.add(ShortVector.fromArray(SHORTS, rows, from + 5 * SHORT_LANES));
      s6 = s6.add(ShortVector.fromArray(SHORTS, rows, from + 6 * SHORT_LANES));
      s7 = s7.add(ShortVector.fromArray(SHORTS, rows, from + 7 * SHORT_LANES));
    }
    int to = token * width + at;
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + SHORT_LANES);
    s2.intoArray(sums, to + 2 * SHORT_LANES);
    s3.intoArray(sums, to + 3 * SHORT_LANES);
    s4.intoArray(sums, to + 4 * SHORT_LANES);
    s5.intoArray(sums, to + 5 * SHORT_LANES);
    s6.intoArray(sums, to + 6 * SHORT_LANES);
    s7.intoArray(sums, to + 7 * SHORT_LANES);
  }

  private static void four(
      short[] rows, byte[] indices, int sets, int token, int width, int at, short[] sums) {
    ShortVector s0 = ShortVector.zero(SHORTS);
    ShortVector s1 = s0;
    ShortVector s2 = s0;
    ShortVector s3 = s0;
    for (int set = 0; set < sets; set++) {
      int from = (set * FixedRows.ROWS + indices[set * Page.TOKENS + token]) * width + at;
      s0 = s0.add(ShortVector.fromArray(SHORTS, rows, from));
      s1 = s1.add(ShortVector.fromArray(SHORTS, rows, from + SHORT_LANES));
      s2 = s2.add(ShortVector.fromArray(SHORTS, rows, from + 2 * SHORT_LANES));
      s3 = s3.add(ShortVector.fromArray(SHORTS, rows, from + 3 * SHORT_LANES));
    }
    int to = token * width + at;
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + SHORT_LANES);
    s2.intoArray(sums, to + 2 * SHORT_LANES);
    s3.intoArray(sums, to + 3 * SHORT_LANES);
  }

  private static void two(
      short[] rows, byte[] indices, int sets, int token, int width, int at, short[] sums) {
    ShortVector s0 = ShortVector.zero(SHORTS);
    ShortVector s1 = s0;
    for (int set = 0; set < sets; set++) {
      int from = (set * FixedRows.ROWS + indices[set * Page.TOKENS + token]) * width + at;
      s0 = s0.add(ShortVector.fromArray(SHORTS, rows, from));
      s1 = s1.add(ShortVector.fromArray(SHORTS, rows, from + SHORT_LANES));
    }
    int to = token * width + at;
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + SHORT_LANES);
  }

  private static void one(
      short[] rows, byte[] indices, int sets, int token, int width, int at, short[] sums) {
    ShortVector s0 = ShortVector.zero(SHORTS);
    for (int set = 0; set < sets; set++) {
      int from = (set * FixedRows.ROWS + indices[set * Page.TOKENS + token]) * width + at;
      s0 = s0.add(ShortVector.fromArray(SHORTS, rows, from));
    }
    int to = token * width + at;
    s0.intoArray(sums, to);
  }

  /** A 32-bit lane holds x in its lower half and y in its upper one. */
  static void turnedSums(
      short[] sums,
      int tokens,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out) {
    int pairs = rows.pairs();
    float[] units = rows.units();
    float[] mean = rows.mean();
    for (int token = 0; token < tokens; token++) {
      int at = token * 2 * pairs;
      int angles = token * pairs;
      FloatVector scale = FloatVector.broadcast(FLOATS, scales[token]);
      for (int i = 0; i < pairs; i += LANES) {
        IntVector both = ShortVector.fromArray(SHORTS, sums, at + 2 * i).reinterpretAsInts();
        FloatVector x =
            ((FloatVector)
                    both.lanewise(VectorOperators.LSHL, 16)
                        .lanewise(VectorOperators.ASHR, 16)
                        .convert(VectorOperators.I2F, 0))
                .mul(scale)
                .fma(
                    FloatVector.fromArray(FLOATS, units, i),
                    FloatVector.fromArray(FLOATS, mean, i));
        FloatVector y =
            ((FloatVector) both.lanewise(VectorOperators.ASHR, 16).convert(VectorOperators.I2F, 0))
                .mul(scale)
                .fma(
                    FloatVector.fromArray(FLOATS, units, pairs + i),
                    FloatVector.fromArray(FLOATS, mean, pairs + i));
        FloatVector cos = FloatVector.fromArray(FLOATS, cosines, angles + i);
        FloatVector sin = FloatVector.fromArray(FLOATS, sines, angles + i);
        y.neg().fma(sin, x.mul(cos)).intoArray(out, at + i);
        x.fma(sin, y.mul(cos)).intoArray(out, at + pairs + i);
      }
    }
  }

  static void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    for (int lane = 0; lane < lanes; lane += FOUR.length()) {
      for (int token = 0; token < tokens; token++) {
        FloatVector weight = FloatVector.fromArray(FOUR, weights, token * lanes + lane);
        for (int set = 0; set < sets; set++) {
          int bin = (set * FixedRows.ROWS + indices[set * Page.TOKENS + token]) * lanes + lane;
          FloatVector.fromArray(FOUR, bins, bin).add(weight).intoArray(bins, bin);
        }
      }
    }
  }
}

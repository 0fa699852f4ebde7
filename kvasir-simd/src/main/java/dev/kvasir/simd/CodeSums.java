package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.LT;
import static jdk.incubator.vector.VectorOperators.MIN;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.NEG;
import static jdk.incubator.vector.VectorOperators.OR;
import static jdk.incubator.vector.VectorOperators.S2F;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.FixedRows;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums of rows that codes pick. A row's bytes are added two at a time, as 16-bit numbers, and the
 * upper ones once more by themselves; what is the lower ones' comes out by subtraction at the end.
 * A token's sums stay in registers while its rows go by, so the tiles are written out.
 */
final class CodeSums {
  /** Rows are padded for 16 pairs, 32 bytes. */
  private static final int MOST_BITS = 256;

  private static final VectorShape SHAPE =
      VectorShape.forBitSize(Math.min(MOST_BITS, FloatVector.SPECIES_PREFERRED.vectorBitSize()));
  private static final VectorSpecies<Byte> SIXTEEN = ByteVector.SPECIES_128;
  private static final VectorSpecies<Byte> BYTES = VectorSpecies.of(byte.class, SHAPE);
  private static final VectorSpecies<Short> SHORTS = VectorSpecies.of(short.class, SHAPE);
  private static final VectorSpecies<Float> FLOATS = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Short> HALF_SHORTS =
      VectorSpecies.of(short.class, VectorShape.forBitSize(SHAPE.vectorBitSize() / 2));
  private static final VectorSpecies<Float> FOUR = FloatVector.SPECIES_128;
  private static final int BYTE_LANES = BYTES.length();
  private static final int SHORT_LANES = SHORTS.length();
  private static final int LANES = FLOATS.length();
  private static final int HALF = PageSize.TOKENS / 2;
  private static final byte INDEX = (1 << StageCodes.INDEX_BITS) - 1;

  private CodeSums() {}

  static void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    ByteVector index = ByteVector.broadcast(SIXTEEN, INDEX);
    ByteVector lowNibble = ByteVector.broadcast(SIXTEEN, (byte) 15);
    ByteVector highIndex = ByteVector.broadcast(SIXTEEN, (byte) 60);
    for (int stage = 0; stage < stages; stage++) {
      long lowAt = offset + (long) stage * StageCodes.STAGE_BYTES;
      int to = 2 * stage * PageSize.TOKENS;
      for (int u = 0; u < HALF; u += SIXTEEN.length()) {
        ByteVector high = load(source, lowAt + PageSize.TOKENS + u);
        ByteVector early = load(source, lowAt + u);
        ByteVector late = load(source, lowAt + HALF + u);
        early.lanewise(AND, index).intoArray(indices, to + u);
        late.lanewise(AND, index).intoArray(indices, to + HALF + u);
        early
            .lanewise(LSHR, StageCodes.INDEX_BITS)
            .lanewise(OR, high.lanewise(AND, lowNibble).lanewise(LSHL, 2))
            .intoArray(indices, to + PageSize.TOKENS + u);
        late.lanewise(LSHR, StageCodes.INDEX_BITS)
            .lanewise(OR, high.lanewise(LSHR, 2).lanewise(AND, highIndex))
            .intoArray(indices, to + PageSize.TOKENS + HALF + u);
      }
    }
  }

  private static ByteVector load(MemorySegment source, long offset) {
    return ByteVector.fromMemorySegment(SIXTEEN, source, offset, ByteOrder.LITTLE_ENDIAN);
  }

  static void rowSums(FixedRows rows, byte[] indices, int first, int end, short[] sums) {
    int pairs = rows.pairs();
    for (int token = first; token < end; token++) {
      int to = (token - first) * rows.width();
      int pair = 0;
      for (; pair <= pairs - 4 * SHORT_LANES; pair += 4 * SHORT_LANES) {
        four(rows, indices, token, pair, sums, to);
      }
      for (; pair <= pairs - 2 * SHORT_LANES; pair += 2 * SHORT_LANES) {
        two(rows, indices, token, pair, sums, to);
      }
      for (; pair < pairs; pair += SHORT_LANES) {
        one(rows, indices, token, pair, sums, to);
      }
    }
  }

  private static void four(
      FixedRows fixed, byte[] indices, int token, int pair, short[] sums, int sumsAt) {
    byte[] rows = fixed.rows();
    int width = fixed.width();
    int at = 2 * pair;
    ShortVector a0 = ShortVector.zero(SHORTS);
    ShortVector a1 = a0;
    ShortVector a2 = a0;
    ShortVector a3 = a0;
    ShortVector b0 = a0;
    ShortVector b1 = a0;
    ShortVector b2 = a0;
    ShortVector b3 = a0;
    for (int set = 0; set < fixed.sets(); set++) {
      int from = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width + at;
      ShortVector r0 = ByteVector.fromArray(BYTES, rows, from).reinterpretAsShorts();
      ShortVector r1 = ByteVector.fromArray(BYTES, rows, from + BYTE_LANES).reinterpretAsShorts();
      ShortVector r2 =
          ByteVector.fromArray(BYTES, rows, from + 2 * BYTE_LANES).reinterpretAsShorts();
      ShortVector r3 =
          ByteVector.fromArray(BYTES, rows, from + 3 * BYTE_LANES).reinterpretAsShorts();
      a0 = r0.lanewise(ADD, a0);
      b0 = r0.lanewise(LSHR, 8).lanewise(ADD, b0);
      a1 = r1.lanewise(ADD, a1);
      b1 = r1.lanewise(LSHR, 8).lanewise(ADD, b1);
      a2 = r2.lanewise(ADD, a2);
      b2 = r2.lanewise(LSHR, 8).lanewise(ADD, b2);
      a3 = r3.lanewise(ADD, a3);
      b3 = r3.lanewise(LSHR, 8).lanewise(ADD, b3);
    }
    ShortVector zero = ShortVector.broadcast(SHORTS, (short) (FixedRows.ZERO * fixed.sets()));
    int x = sumsAt + pair;
    int y = x + fixed.pairs();
    a0.lanewise(SUB, b0.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x);
    b0.lanewise(SUB, zero).intoArray(sums, y);
    a1.lanewise(SUB, b1.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x + SHORT_LANES);
    b1.lanewise(SUB, zero).intoArray(sums, y + SHORT_LANES);
    a2.lanewise(SUB, b2.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x + 2 * SHORT_LANES);
    b2.lanewise(SUB, zero).intoArray(sums, y + 2 * SHORT_LANES);
    a3.lanewise(SUB, b3.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x + 3 * SHORT_LANES);
    b3.lanewise(SUB, zero).intoArray(sums, y + 3 * SHORT_LANES);
  }

  private static void two(
      FixedRows fixed, byte[] indices, int token, int pair, short[] sums, int sumsAt) {
    byte[] rows = fixed.rows();
    int width = fixed.width();
    int at = 2 * pair;
    ShortVector a0 = ShortVector.zero(SHORTS);
    ShortVector a1 = a0;
    ShortVector b0 = a0;
    ShortVector b1 = a0;
    for (int set = 0; set < fixed.sets(); set++) {
      int from = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width + at;
      ShortVector r0 = ByteVector.fromArray(BYTES, rows, from).reinterpretAsShorts();
      ShortVector r1 = ByteVector.fromArray(BYTES, rows, from + BYTE_LANES).reinterpretAsShorts();
      a0 = r0.lanewise(ADD, a0);
      b0 = r0.lanewise(LSHR, 8).lanewise(ADD, b0);
      a1 = r1.lanewise(ADD, a1);
      b1 = r1.lanewise(LSHR, 8).lanewise(ADD, b1);
    }
    ShortVector zero = ShortVector.broadcast(SHORTS, (short) (FixedRows.ZERO * fixed.sets()));
    int x = sumsAt + pair;
    int y = x + fixed.pairs();
    a0.lanewise(SUB, b0.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x);
    b0.lanewise(SUB, zero).intoArray(sums, y);
    a1.lanewise(SUB, b1.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x + SHORT_LANES);
    b1.lanewise(SUB, zero).intoArray(sums, y + SHORT_LANES);
  }

  private static void one(
      FixedRows fixed, byte[] indices, int token, int pair, short[] sums, int sumsAt) {
    byte[] rows = fixed.rows();
    int width = fixed.width();
    int at = 2 * pair;
    ShortVector a0 = ShortVector.zero(SHORTS);
    ShortVector b0 = a0;
    for (int set = 0; set < fixed.sets(); set++) {
      int from = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width + at;
      ShortVector r0 = ByteVector.fromArray(BYTES, rows, from).reinterpretAsShorts();
      a0 = r0.lanewise(ADD, a0);
      b0 = r0.lanewise(LSHR, 8).lanewise(ADD, b0);
    }
    ShortVector zero = ShortVector.broadcast(SHORTS, (short) (FixedRows.ZERO * fixed.sets()));
    int x = sumsAt + pair;
    int y = x + fixed.pairs();
    a0.lanewise(SUB, b0.lanewise(LSHL, 8)).lanewise(SUB, zero).intoArray(sums, x);
    b0.lanewise(SUB, zero).intoArray(sums, y);
  }

  static void turnedSums(
      short[] sums,
      int first,
      int end,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out) {
    int pairs = rows.pairs();
    for (int i = 0; i < pairs; i += LANES) {
      FloatVector unit = FloatVector.fromArray(FLOATS, rows.units(), i);
      FloatVector meanX = FloatVector.fromArray(FLOATS, rows.mean(), i);
      FloatVector meanY = FloatVector.fromArray(FLOATS, rows.mean(), pairs + i);
      for (int token = first; token < end; token++) {
        int at = (token - first) * 2 * pairs + i;
        FloatVector factor = unit.lanewise(MUL, FloatVector.broadcast(FLOATS, scales[token]));
        FloatVector sumX =
            (FloatVector) ShortVector.fromArray(HALF_SHORTS, sums, at).convertShape(S2F, FLOATS, 0);
        FloatVector sumY =
            (FloatVector)
                ShortVector.fromArray(HALF_SHORTS, sums, at + pairs).convertShape(S2F, FLOATS, 0);
        FloatVector x = sumX.lanewise(FMA, factor, meanX);
        FloatVector y = sumY.lanewise(FMA, factor, meanY);
        FloatVector cos = FloatVector.fromArray(FLOATS, cosines, token * pairs + i);
        FloatVector sin = FloatVector.fromArray(FLOATS, sines, token * pairs + i);
        y.lanewise(NEG).lanewise(FMA, sin, x.lanewise(MUL, cos)).intoArray(out, at);
        x.lanewise(FMA, sin, y.lanewise(MUL, cos)).intoArray(out, at + pairs);
      }
    }
  }

  static void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    for (int token = 0; token < tokens; token++) {
      int i = 0;
      for (; i <= width - 4 * LANES; i += 4 * LANES) {
        addFour(rows, at + i, indices, sets, token, width, sums, token * width + i);
      }
      for (; i < width; i++) {
        float sum = 0;
        for (int set = 0; set < sets; set++) {
          sum +=
              rows[
                  at + i + (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width];
        }
        sums[token * width + i] = sum;
      }
    }
  }

  private static void addFour(
      float[] rows, int at, byte[] indices, int sets, int token, int width, float[] sums, int to) {
    FloatVector s0 = FloatVector.zero(FLOATS);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int set = 0; set < sets; set++) {
      int from = at + (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width;
      s0 = FloatVector.fromArray(FLOATS, rows, from).lanewise(ADD, s0);
      s1 = FloatVector.fromArray(FLOATS, rows, from + LANES).lanewise(ADD, s1);
      s2 = FloatVector.fromArray(FLOATS, rows, from + 2 * LANES).lanewise(ADD, s2);
      s3 = FloatVector.fromArray(FLOATS, rows, from + 3 * LANES).lanewise(ADD, s3);
    }
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + LANES);
    s2.intoArray(sums, to + 2 * LANES);
    s3.intoArray(sums, to + 3 * LANES);
  }

  static void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    float[] sums = LaneSums.scratch();
    for (int i = 0; i < count; i++) {
      out[i] = FloatProducts.dot(a, i * width, b, i * width, width, sums);
    }
  }

  static void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    for (int lane = 0; lane < lanes; lane += FOUR.length()) {
      for (int token = 0; token < tokens; token++) {
        FloatVector weight = FloatVector.fromArray(FOUR, weights, token * lanes + lane);
        for (int set = 0; set < sets; set++) {
          int bin = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * lanes + lane;
          FloatVector.fromArray(FOUR, bins, bin).lanewise(ADD, weight).intoArray(bins, bin);
        }
      }
    }
  }

  /** What is not a number is below nothing; of numbers the least is the same in any order. */
  static void leastDistances(
      float[] squares, int at, float[] products, int productsAt, float[] out) {
    for (int a = 0; a < FixedRows.ROWS; a++) {
      FloatVector leasts = FloatVector.broadcast(FLOATS, Float.POSITIVE_INFINITY);
      int row = at + a * FixedRows.ROWS;
      for (int b = 0; b < FixedRows.ROWS; b += LANES) {
        FloatVector product = FloatVector.fromArray(FLOATS, products, productsAt + b);
        FloatVector distances =
            FloatVector.fromArray(FLOATS, squares, row + b)
                .lanewise(SUB, product.lanewise(ADD, product));
        leasts = leasts.blend(distances, distances.compare(LT, leasts));
      }
      out[a] = leasts.reduceLanes(MIN);
    }
  }
}
